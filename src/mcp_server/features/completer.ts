/** Candidate texts, filtered by the user's input as a prefix; or a function that returns suggestions. */
export type Completer =
	| readonly string[]
	| ((typed: string, chosen: Readonly<Record<string, unknown>>) => readonly string[] | Promise<readonly string[]>);

/** Completers by the name of an argument or variable. */
export type Completers = Readonly<Record<string, Completer>>;

/** Something with arguments that can be completed: prompts or resource templates. */
export interface Completable {
	/** The names of all arguments, which clients send when they complete one. */
	readonly argumentNames: readonly string[];
	/** @returns undefined if the prompt or template does not exist */
	completersOf(key: string): Completers | undefined;
}
