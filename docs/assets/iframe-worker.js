// From disk (file:) browsers start no workers; the search then works in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.started = new Promise((resolve) => {
        frame.addEventListener("load", () => this.start(frame, url, resolve), { once: true });
      });
      document.body.append(frame);
    }

    // What the script says with its `postMessage` is heard here.
    start(frame, url, resolve) {
      const script = frame.contentDocument.createElement("script");
      frame.contentWindow.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      script.addEventListener("load", () => resolve(frame.contentWindow));
      script.src = url;
      frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      this.started.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
