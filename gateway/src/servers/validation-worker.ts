// Runs in a thread of its own, which ends when a schema takes too much time or memory.
import { type Schema, SchemaValidator } from "./schema-validator.js";

const validator = new SchemaValidator();

/** One validation: {@link SchemaValidator.validate}. */
export default function validate({ schema, value }: { schema: Schema; value: unknown }): string | undefined {
	return validator.validate(schema, value);
}
