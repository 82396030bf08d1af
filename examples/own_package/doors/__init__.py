"""An environment and a method for pairvdn, in a package of their own."""
