// Lines of a test: one for each check, what was left out with the reason, and the count that scripts/test reads.

let passed = 0;
let failed = 0;
const leftOut = new Map();

/** Thrown by a check that does not apply, with the reason. */
export class LeftOut extends Error {}

const short = (error) =>
  String(error?.message ?? error)
    .replace(/\s+/g, " ")
    .slice(0, 500);

export const report = {
  ok(name) {
    passed++;
    console.log(`ok      ${name}`);
  },

  failed(name, why) {
    failed++;
    console.log(`FAILED  ${name}: ${short(why)}`);
  },

  /** What cannot be checked, and why. Named at the end; neither a success nor a failure. */
  leftOut(name, why) {
    leftOut.set(why, [...(leftOut.get(why) ?? []), name]);
  },

  /** Runs a check: whatever it throws is the reason for its failure, or for leaving it out. */
  async check(name, check) {
    try {
      await check();
      this.ok(name);
    } catch (error) {
      if (error instanceof LeftOut) this.leftOut(name, error.message);
      else this.failed(name, error);
    }
  },

  /** Prints what was left out and the count; gives the exit code. */
  end() {
    for (const [why, names] of leftOut) {
      console.log(`\nleft out, ${why}:`);
      for (const name of names) console.log(`    ${name}`);
    }
    console.log(`\n${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0 ? 0 : 1;
  },
};
