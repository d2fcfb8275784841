// Runs in a thread of its own, which ends when a schema takes too much time or memory.
import { SchemaValidator } from "./schema-validator.js";

const validator = new SchemaValidator();

/** One validation: {@link SchemaValidator.validate}. */
export default function validate(checked: Parameters<SchemaValidator["validate"]>[0]): string | undefined {
	return validator.validate(checked);
}
