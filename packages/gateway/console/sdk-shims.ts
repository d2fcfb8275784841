// Stands for what the SDK chooses for browsers: its JSON Schema validator alone would take 6 KB of the page. The gateway has
// checked what comes from it.

export const CORS_IS_POSSIBLE = true;

export class DefaultJsonSchemaValidator {
	getValidator(): (input: unknown) => { valid: true; data: unknown; errorMessage: undefined } {
		return (data) => ({ valid: true, data, errorMessage: undefined });
	}
}
