import { Backoff, type BackoffOptions } from "../../src/protocols/backoff.js";
import { equal, ok, suite } from "../harness.js";

const STEPS = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];

const delays = (backoff: Backoff): number[] => STEPS.map(() => backoff.next());
const withRandom = (random: number, options: BackoffOptions = {}): Backoff =>
	new Backoff({ ...options, random: () => random });

export default suite("backoff", {
	"doubles from a second to a minute, and stays there"() {
		equal(delays(withRandom(0.999_999)), STEPS);
	},
	"spreads the devices of a backend that restarts over half of each step"() {
		const shortest = delays(withRandom(0));
		equal(
			shortest,
			STEPS.map((step) => step / 2),
		);
		for (const random of [0.25, 0.5, 0.999]) {
			for (const [at, delay] of delays(withRandom(random)).entries()) {
				const step = STEPS[at] as number;
				ok(delay >= step / 2 && delay <= step, `${delay} of ${step}`);
			}
		}
	},
	"keeps to the limits it was given"() {
		equal(delays(withRandom(0, { minimum: 10, maximum: 50 })), [5, 10, 20, 25, 25, 25, 25, 25]);
	},
});
