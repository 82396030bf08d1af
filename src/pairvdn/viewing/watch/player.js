// Where we are in time. It tells its listener only when something changed.

const SPEEDS = [1, 2, 5, 10, 20, 40, 80]; // steps per second

class Player {
  constructor(onChange) {
    this.onChange = onChange;
    this.step = 0;
    this.length = 0;
    this.playing = false;
  }

  // At first a speed at which an episode of this many steps lasts some ten seconds, up to 40.
  open(length) {
    this.length = length;
    this.speed ??= SPEEDS.find((speed) => length / speed <= 15 || speed === 40);
    this.pause();
    this.go(0, true);
  }

  go(step, anyway = false) {
    const wanted = Math.min(this.length, Math.max(0, step));
    if (wanted === this.step && !anyway) return;
    this.step = wanted;
    this.onChange();
  }

  toggle() {
    return this.playing ? this.pause() : this.play();
  }

  pause() {
    this.playing = false;
    this.onChange();
  }

  play() {
    if (this.step >= this.length) this.step = 0;
    this.playing = true;
    let [start, from, speed] = [performance.now(), this.step, this.speed];
    const tick = (now) => {
      if (!this.playing) return;
      if (this.speed !== speed || this.shown !== this.step)
        [start, from, speed] = [now, this.step, this.speed];
      this.go(from + Math.floor(((now - start) / 1000) * speed));
      this.shown = this.step;
      if (this.step >= this.length) this.pause();
      else requestAnimationFrame(tick);
    };
    this.shown = this.step;
    requestAnimationFrame(tick);
    this.onChange();
  }
}
