import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";

/** What of a tool matters here: its schema may be anything that a device sent. */
interface CheckedTool {
	readonly name: string;
	readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Compiled schemas that are kept. Boards of one kind share theirs. */
const MAX_COMPILED = 1_000;

const OPTIONS: Options = { strict: false, validateFormats: false, logger: false, code: { regExp: linearRegExp } };

/** Says what is wrong with the arguments of a call before they travel. */
export class ArgumentChecker {
	readonly #warn: (message: string) => void;
	/** By the schema's JSON. `undefined`: it cannot be compiled. */
	#compiled = new Map<string, ValidateFunction | undefined>();
	#draft07 = new Ajv(OPTIONS);
	#draft2020 = new Ajv2020(OPTIONS);
	/** The same, to be found without making JSON. */
	readonly #bySchema = new WeakMap<object, ValidateFunction | undefined>();

	/** @param warn hears of a schema that cannot be used; its tool's arguments go to the device unchecked */
	constructor(warn: (message: string) => void) {
		this.#warn = warn;
	}

	/** @returns what is wrong, with the name of the argument; undefined when the arguments fit the tool's schema */
	check({ name, inputSchema }: CheckedTool, args: object): string | undefined {
		if (!this.#bySchema.has(inputSchema)) {
			this.#bySchema.set(inputSchema, this.#validatorOf(name, inputSchema));
		}
		const validate = this.#bySchema.get(inputSchema);
		return validate === undefined || validate(args) ? undefined : describe(validate.errors?.[0]);
	}

	#validatorOf(name: string, schema: CheckedTool["inputSchema"]): ValidateFunction | undefined {
		const text = JSON.stringify(schema);
		if (!this.#compiled.has(text)) {
			this.#makeRoom();
			this.#compiled.set(text, this.#compile(name, schema));
		}
		return this.#compiled.get(text);
	}

	/** Ajv keeps parts of everything it ever compiled: only a new one is empty. */
	#makeRoom(): void {
		if (this.#compiled.size >= MAX_COMPILED) {
			this.#compiled = new Map();
			this.#draft07 = new Ajv(OPTIONS);
			this.#draft2020 = new Ajv2020(OPTIONS);
		}
	}

	/** JSON Schema 2020-12, as MCP has it, unless the schema says that it is of draft-07. */
	#compile(name: string, schema: CheckedTool["inputSchema"]): ValidateFunction | undefined {
		const isOlder = typeof schema.$schema === "string" && schema.$schema.includes("draft-07");
		const ajv = isOlder ? this.#draft07 : this.#draft2020;
		try {
			if (schema.$async !== undefined) {
				throw new Error("$async is no keyword of JSON Schema");
			}
			return ajv.compile(schema);
		} catch (error) {
			this.#warn(`${name}: arguments are not checked, its schema cannot be used: ${(error as Error).message}`);
			return undefined;
		} finally {
			// Two devices' schemas may have the same $id.
			ajv.removeSchema(schema);
		}
	}
}

/** Patterns come from devices and are tried on what hosts send: RE2 takes linear time, RegExp may take for ever. */
function linearRegExp(pattern: string): { test: (text: string) => boolean; toString: () => string } {
	const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
	// Ajv tells patterns apart by their text.
	return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}
// Ajv would write this into code that outlives the process; ours does not.
linearRegExp.code = "";

function describe(error: ErrorObject | undefined): string {
	const { instancePath = "", keyword = "", message = "do not fit the schema", params = {} } = error ?? {};
	const member = { required: params.missingProperty, additionalProperties: params.additionalProperty }[keyword];
	const path = [...instancePath.split("/").slice(1), ...(member === undefined ? [] : [member])].join(".");
	return `${path === "" ? "arguments" : path}: ${PHRASES[keyword] ?? message}${allowed(params.allowedValues)}`;
}

const PHRASES: Readonly<Record<string, string>> = { required: "is missing", additionalProperties: "is unknown" };

function allowed(values: unknown): string {
	return Array.isArray(values) ? `: ${values.map((value) => JSON.stringify(value)).join(", ")}` : "";
}
