// Replaces the SDK's shims for browsers, whose JSON Schema validator alone takes 6 KB. The gateway has already validated
// its messages.

export const CORS_IS_POSSIBLE = true;

export class DefaultJsonSchemaValidator {
	getValidator(): (input: unknown) => { valid: true; data: unknown; errorMessage: undefined } {
		return (data) => ({ valid: true, data, errorMessage: undefined });
	}
}
