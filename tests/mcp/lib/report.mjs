// Test output: a line per check, skipped checks with the reason, and the count that scripts/test reads.

let passed = 0;
let failed = 0;
const skippedByReason = new Map();

/** Thrown by a check that does not apply, with the reason. */
export class Skipped extends Error {}

const messageOf = (error) =>
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
    console.log(`FAILED  ${name}: ${messageOf(why)}`);
  },

  /** Records a check that cannot run. It is listed at the end with the reason, and counts neither as passed nor as failed. */
  skipped(name, why) {
    skippedByReason.set(why, [...(skippedByReason.get(why) ?? []), name]);
  },

  /** Runs a check. It passes unless it throws: `Skipped` skips it, and any other error is a failure. */
  async check(name, check) {
    try {
      await check();
      this.ok(name);
    } catch (error) {
      if (error instanceof Skipped) this.skipped(name, error.message);
      else this.failed(name, error);
    }
  },

  /** Prints the skipped checks and the count. Returns the exit code. */
  end() {
    for (const [why, names] of skippedByReason) {
      console.log(`\nskipped: ${why}`);
      for (const name of names) console.log(`    ${name}`);
    }
    console.log(`\n${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0 ? 0 : 1;
  },
};
