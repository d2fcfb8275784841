/**
 * For the option `skip` of tests that need a program of this machine: an engine, a broker, NATS, a browser. In CI it has to be
 * there: tests that are left out in silence protect nothing.
 */
export function skipIf(why: string | false | undefined): string | false {
	if (why && process.env.CI === "true") {
		throw new Error(`needed in CI (.ci/run installs it; CI=false runs the tests without): ${why}`);
	}
	return why || false;
}
