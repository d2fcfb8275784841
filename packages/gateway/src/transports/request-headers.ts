import { isObject } from "xs-mcp-firmware/core/text/json";

/** The values that headers can repeat. */
type Scalar = string | number | boolean;

/** The members of a JSON-RPC request or notification that headers repeat. */
interface Repeated {
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
}

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
	"tasks/get": "taskId",
	"tasks/update": "taskId",
	"tasks/cancel": "taskId",
};

/** The form of a header whose text is not ASCII: 2026-07-28, "Value Encoding". */
const BASE64 = /^=\?base64\?(.*)\?=$/;

const DECIMAL = /^-?\d+(\.\d+)?$/;

/**
 * Lists the headers that repeat the body of a request, with the values in it: 2026-07-28, "Standard Request Headers" and "Custom
 * Headers from Tool Parameters".
 *
 * @param schema of the arguments of a tool's call: it may ask for some of them, at any depth of objects
 */
export function repeatedHeaders({ method = "", params }: Repeated, revision: string, schema?: unknown) {
	const headers: Record<string, Scalar> = { "MCP-Protocol-Version": revision, "Mcp-Method": method };
	const name = params?.[NAMED_BY[method] ?? ""];
	if (typeof name === "string") {
		headers["Mcp-Name"] = name;
	}
	const values = [{ schema, value: params?.arguments }];
	for (const { schema, value } of values) {
		const { properties, "x-mcp-header": header } = isObject(schema) ? schema : {};
		if (typeof header === "string" && isScalar(value)) {
			headers[`Mcp-Param-${header}`] = value;
		} else if (isObject(properties) && isObject(value)) {
			values.push(...Object.entries(properties).map(([key, schema]) => ({ schema, value: value[key] })));
		}
	}
	return headers;
}

/** Encodes values for HTTP headers. */
export function encodeHeaders(values: Readonly<Record<string, Scalar>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => {
			const text = `${value}`;
			const isPlain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !BASE64.test(text);
			return [name, isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`];
		}),
	);
}

/** The first difference between headers and the values that they must repeat; undefined without one. */
export function headersProblem(
	headers: Readonly<Record<string, unknown>>,
	values: Readonly<Record<string, Scalar>>,
): string | undefined {
	for (const [name, value] of Object.entries(values)) {
		const header = headers[name.toLowerCase()];
		if (header === undefined) {
			return `the header ${name} is missing`;
		}
		const base64 = BASE64.exec(`${header}`)?.[1];
		const text = base64 === undefined ? `${header}` : Buffer.from(base64, "base64").toString();
		if (base64 !== undefined && Buffer.from(text).toString("base64") !== base64) {
			return `the header ${name} is not Base64 of UTF-8`;
		}
		const isSame = typeof value === "number" && DECIMAL.test(text) ? Number(text) === value : text === `${value}`;
		if (!isSame) {
			return `the header ${name} is ${JSON.stringify(text)}, the body has ${JSON.stringify(value)}`;
		}
	}
	return undefined;
}

/** Integers beyond 2^53 are not exact. */
function isScalar(value: unknown): value is Scalar {
	const isNumber = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
	return isNumber || typeof value === "string" || typeof value === "boolean";
}
