// Unpacks the numbers of pack.py: deflated, bytes separate, differences from row to row.

const NOT_A_NUMBER = -(2 ** 31);
const INFINITE = 2 ** 31 - 1;

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// An array whose first axis is time; `index` counts within one row.
class Numbers {
  constructor(bytes, { at, shape, decimals, still }) {
    this.shape = shape;
    this.decimals = decimals;
    this.still = still;
    this.rowLength = shape.slice(1).reduce((product, size) => product * size, 1);
    this.scale = 10 ** decimals;
    const count = (still ? 1 : shape[0]) * this.rowLength;
    this.whole = new Int32Array(count);
    for (let k = 0; k < count; k++) {
      const difference =
        bytes[at + k] |
        (bytes[at + count + k] << 8) |
        (bytes[at + 2 * count + k] << 16) |
        (bytes[at + 3 * count + k] << 24);
      const before = k < this.rowLength ? 0 : this.whole[k - this.rowLength];
      this.whole[k] = before + difference; // wraps around, as an Int32Array does
    }
  }

  get rows() {
    return this.shape[0];
  }

  wholeAt(row, index = 0) {
    return this.whole[(this.still ? 0 : row * this.rowLength) + index];
  }

  at(row, index = 0) {
    const whole = this.wholeAt(row, index);
    if (whole === NOT_A_NUMBER) return NaN;
    if (Math.abs(whole) === INFINITE) return Math.sign(whole) * Infinity;
    return whole / this.scale;
  }

  text(row, index = 0) {
    return numberText(this.at(row, index), this.decimals);
  }

  // Smallest and largest finite number of all rows.
  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const whole of this.whole) {
      if (whole === NOT_A_NUMBER || Math.abs(whole) === INFINITE) continue;
      low = Math.min(low, whole);
      high = Math.max(high, whole);
    }
    return low <= high ? [low / this.scale, high / this.scale] : [0, 0];
  }
}
