// A test harness that needs nothing but ECMAScript, so that the suites run on XS as they do on Node.

export interface Suite {
	readonly name: string;
	readonly tests: Readonly<Record<string, () => void | Promise<void>>>;
}

export function suite(name: string, tests: Suite["tests"]): Suite {
	return { name, tests };
}

/** A test that is run with a new arrangement. */
export const given =
	<Made>(make: () => Made | Promise<Made>, test: (made: Made) => void | Promise<void>) =>
	async (): Promise<void> =>
		await test(await make());

class AssertionFailed extends Error {
	override readonly name = "AssertionFailed";
}

export function ok(value: unknown, message = "expected something true"): asserts value {
	if (!value) {
		throw new AssertionFailed(message);
	}
}

/** Compares as JSON-like data: by value, the order of an object's members apart. */
export function equal(actual: unknown, expected: unknown, message = ""): void {
	const [actualText, expectedText] = [canonical(actual), canonical(expected)];
	if (actualText !== expectedText) {
		throw new AssertionFailed(`${message}\n  got      ${actualText}\n  expected ${expectedText}`);
	}
}

export function matches(text: string, pattern: RegExp): void {
	ok(pattern.test(text), `${JSON.stringify(text)} does not match ${String(pattern)}`);
}

export function throws(run: () => unknown, pattern: RegExp): Error {
	try {
		run();
	} catch (error) {
		matches((error as Error).message, pattern);
		return error as Error;
	}
	throw new AssertionFailed(`nothing thrown, expected ${String(pattern)}`);
}

/** Lets promise jobs run. */
export async function settled(): Promise<void> {
	for (let turn = 0; turn < 20; turn += 1) {
		await undefined;
	}
}

/** Outcome of a promise so far: nothing, its value, or its error's message. */
export function outcomeOf<Value>(promise: Promise<Value>): { value?: Value; error?: string } {
	const outcome: { value?: Value; error?: string } = {};
	promise.then(
		(value) => {
			outcome.value = value;
		},
		(error: Error) => {
			outcome.error = error.message;
		},
	);
	return outcome;
}

export const failureOf = (promise: Promise<unknown>): Promise<string> =>
	promise.then(
		() => "none",
		(error: Error) => error.message,
	);

function canonical(value: unknown): string {
	if (Array.isArray(value)) {
		return `[${value.map(canonical).join(",")}]`;
	}
	if (value instanceof ArrayBuffer) {
		return `bytes(${new Uint8Array(value).join(",")})`;
	}
	if (typeof value === "object" && value !== null) {
		const members = Object.entries(value).filter(([, member]) => member !== undefined);
		members.sort(([a], [b]) => (a < b ? -1 : 1));
		return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
	}
	return value === undefined ? "undefined" : typeof value === "number" ? String(value) : JSON.stringify(value);
}
