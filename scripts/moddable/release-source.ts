import { makeArrowFunctions } from "./arrow-functions.js";
import { makePlainMembers } from "./plain-members.js";

/** What a release build makes of a module, TypeScript or JavaScript, so that it takes less flash; short names come after it. */
export function makeReleaseSource(source: string): string {
	return makeArrowFunctions(makePlainMembers(source));
}
