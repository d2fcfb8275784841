// Replaces the module by which the SDK's client and server each load a copy of Ajv at the start, in bundles.
import process from "node:process";

export { process };

export const CORS_IS_POSSIBLE = false;

type Validator = import("@modelcontextprotocol/server/validators/ajv").AjvJsonSchemaValidator;

/** The SDK's validator, loaded on use. */
export class DefaultJsonSchemaValidator {
	#validator: Validator | undefined;

	getValidator: Validator["getValidator"] = (schema) => {
		const { AjvJsonSchemaValidator } = require("@modelcontextprotocol/server/validators/ajv");
		this.#validator ??= new AjvJsonSchemaValidator() as Validator;
		return this.#validator.getValidator(schema);
	};
}
