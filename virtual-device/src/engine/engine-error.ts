import type { EngineExitCode } from "./engine.js";

/** Why an engine could not be had, or could not go on. Stable: callers may match on it. */
export type EngineErrorCode =
	| EngineExitCode
	/** No C compiler was found. */
	| "no-compiler"
	/** The compiler does not make 32-bit programs here. */
	| "no-32-bit-compiler"
	/** The C compiler failed. */
	| "compile-failed"
	/** The npm package with XS's sources is not installed. */
	| "no-sources";

export class EngineError extends Error {
	readonly code: EngineErrorCode;

	constructor(code: EngineErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "EngineError";
		this.code = code;
	}
}
