import type { EngineExitCode } from "./engine.js";

/**
 * Why an engine, or a command to it, failed. Codes are stable: tests and users may match on them.
 *
 * - the codes of an exit: the machine had ended, or ended while the command was waiting or running;
 * - `no-sources`: the XS sources are not installed; `no-compiler`, `no-32-bit-compiler`, `no-32-bit-programs`, `compile-failed`: they could not
 *   be built;
 * - `start-failed`: the process or thread of the machine could not be started;
 * - `invalid-header`: the script posted a header that is no JSON array. The machine goes on.
 */
type EngineErrorCode =
	| EngineExitCode
	| "no-sources"
	| "no-compiler"
	| "no-32-bit-compiler"
	| "no-32-bit-programs"
	| "compile-failed"
	| "start-failed"
	| "invalid-header";

/** The error class of this folder. */
export class EngineError extends Error {
	readonly code: EngineErrorCode;

	constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = "EngineError";
		this.code = code;
	}
}
