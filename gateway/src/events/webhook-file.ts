import { readFileSync } from "node:fs";
import { z } from "zod";

const RECORD = z.object({
	/** Derived from what the subscription is. */
	id: z.string(),
	/** The token's hash. */
	holder: z.string(),
	/** Alias or id: the client's endpoint is that of one server. */
	server: z.string().optional(),
	name: z.string(),
	arguments: z.record(z.string(), z.unknown()),
	url: z.string(),
	secret: z.string(),
	/** Everything up to here was accepted. */
	cursor: z.string(),
	/** When it ends, in milliseconds since 1970. */
	expires: z.number(),
});

/** A subscription by webhook, as it is stored. */
export type WebhookRecord = Readonly<z.infer<typeof RECORD>>;

/**
 * The subscriptions in a file; none if it does not exist.
 *
 * @throws Error if it cannot be read, or is damaged
 */
export function readWebhooks(path: string): WebhookRecord[] {
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") {
			return [];
		}
		throw error;
	}
	return z.array(RECORD).parse(JSON.parse(text));
}
