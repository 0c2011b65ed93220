// Generates random schemas and inputs from a seed.

function randomBelow(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const KEYS = ["a", "b", "c", "1"];
const TEXTS = ["", "a", "b", "abc", "1", "x@y.zz", "https://h.io/", "🦀", "zzzzzz"];

// Returns a function that builds a random schema, so that both libraries can build the same one.
function schema(pick, depth) {
  const leaf = depth <= 0;
  const kinds = leaf ? 9 : 13;
  const inner = () => schema(pick, depth - 1);
  let made;
  const n = pick(4);
  switch (pick(kinds)) {
    case 0: made = (z) => z.string(); break;
    case 1: made = (z) => z.string().min(n).max(n + pick.fixed); break;
    case 2: made = (z) => z.number(); break;
    case 3: made = (z) => z.number().int().min(n); break;
    case 4: made = (z) => z.boolean(); break;
    case 5: made = (z) => z.enum(["a", "b", "1"].slice(0, 1 + (n % 3))); break;
    case 6: made = (z) => z.literal([n, "a", null, true][n]); break;
    case 7: made = (z) => [z.email(), z.url(), z.string().regex(/b/), z.string().startsWith("a")][n]; break;
    case 8: made = (z) => [z.any(), z.null(), z.number().gt(1), z.number().multipleOf(2)][n]; break;
    case 9: { const of = inner(); made = (z) => (n ? z.array(of(z)).max(n) : z.array(of(z))); break; }
    case 10: {
      const shape = KEYS.slice(0, 1 + n).map((key) => [key, inner()]);
      const rest = pick(3);
      made = (z) => {
        const object = z.object(Object.fromEntries(shape.map(([key, of]) => [key, of(z)])));
        return [object, object.strict(), object.passthrough()][rest];
      };
      break;
    }
    case 11: { const of = inner(); made = (z) => z.record(n ? z.string() : z.enum(["a", "b"]), of(z)); break; }
    default: { const of = [inner(), inner(), inner()].slice(0, 2 + (n % 2)); made = (z) => z.union(of.map((one) => one(z))); }
  }
  const base = made;
  switch (pick(9)) {
    case 0: return (z) => base(z).optional();
    case 1: return (z) => base(z).nullable();
    case 2: return (z) => base(z).default(TEXTS[n]);
    case 3: return (z) => base(z).describe("about it");
    default: return base;
  }
}

function value(pick, depth) {
  switch (pick(depth > 0 ? 9 : 6)) {
    case 0: return TEXTS[pick(TEXTS.length)];
    case 1: return TEXTS[pick(4)];
    case 2: return [0, 1, 2, 3, 4, -1, 1.5, 1e300][pick(8)];
    case 3: return pick(2) === 0;
    case 4: return null;
    case 5: return undefined;
    case 6: return Array.from({ length: pick(4) }, () => value(pick, depth - 1));
    default: return Object.fromEntries(KEYS.filter(() => pick(3)).map((key) => [key, value(pick, depth - 1)]));
  }
}

export function* generated(rounds, seed) {
  const pick = randomBelow(seed);
  pick.fixed = 2;
  for (let round = 0; round < rounds; round++) {
    const make = schema(pick, 3);
    for (let tries = 0; tries < 3; tries++) yield { make, value: value(pick, 3), name: `round ${round} of seed ${seed}` };
  }
}
