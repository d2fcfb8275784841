/** Texts to choose from: those that begin with what the user has typed are suggested. Or a function that finds some. */
export type Completer =
	| readonly string[]
	| ((typed: string, chosen: Readonly<Record<string, unknown>>) => readonly string[] | Promise<readonly string[]>);

/** Completers by the name of an argument or variable. */
export type Completers = Readonly<Record<string, Completer>>;

/** What has arguments that can be completed: prompts, or templates of resources. */
export interface Completable {
	/** The names of all arguments, which clients send along when they ask for one. */
	readonly argumentNames: readonly string[];
	/** @returns undefined if there is no such prompt or template */
	completersOf(key: string): Completers | undefined;
}
