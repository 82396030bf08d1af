// The position in time; calls its listener only after a change.

const SPEEDS = [1, 2, 5, 10, 20, 40, 80]; // steps per second

class Player {
  constructor(onChange) {
    this.onChange = onChange;
    this.step = 0;
    this.length = 0;
    this.playing = false;
  }

  // The first speed lets an episode last about ten seconds, up to 40 steps per second.
  open(length) {
    this.length = length;
    this.speed ??= SPEEDS.find((speed) => length / speed <= 15 || speed === 40);
    this.pause();
    this.go(0, true);
  }

  go(step, force = false) {
    const wanted = Math.min(this.length, Math.max(0, step));
    if (wanted === this.step && !force) return;
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
