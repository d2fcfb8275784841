import { makeArrowFunctions } from "./arrow-functions.js";
import { makePlainMembers } from "./plain-members.js";

/** By their sources, because bundles share most modules. */
const releases = new Map<string, string>();

/** Transforms a module, TypeScript or JavaScript, to take less flash in a release build; short names come after it. */
export function makeReleaseSource(source: string): string {
	const release = releases.get(source) ?? makeArrowFunctions(makePlainMembers(source));
	releases.set(source, release);
	return release;
}
