/** Lets promise jobs run. */
export async function settled(): Promise<void> {
	for (let turn = 0; turn < 20; turn += 1) {
		await undefined;
	}
}

/** What a promise has come to: nothing yet, its value, or the words of its error. */
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
