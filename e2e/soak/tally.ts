// Counts outcomes of calls while a gateway fails.
import type { CallToolResult, Client } from "@modelcontextprotocol/client";

const CALL_TIMEOUT = 240_000;

export interface TallyOptions {
	readonly carriedOut: ReadonlyMap<string, number>;
	/** Watches from now on. The function that it returns tells whether the gateway was away meanwhile. */
	readonly watch: () => () => boolean;
}

/** The outcomes of calls that are answered with their text. */
export class Tally {
	answered = 0;
	/** With an error that says why. */
	failed = 0;
	/** The gateway of the client was not reached, or ended meanwhile. */
	cutOff = 0;
	/** Answers that nest too deeply for the gateway, and came as an error that says so. */
	refused = 0;
	readonly wrong: string[] = [];
	readonly unanswered: string[] = [];
	/** How often calls failed for each reason; ids and times are "#". */
	readonly reasons = new Map<string, number>();
	/** Said to have had no effect. */
	readonly #notSent: string[] = [];
	readonly #carriedOut: ReadonlyMap<string, number>;
	readonly #watch: () => () => boolean;
	#count = 0;

	constructor({ carriedOut, watch }: TallyOptions) {
		this.#carriedOut = carriedOut;
		this.#watch = watch;
	}

	/** Calls a tool. Resolves with whether the answer is the right one. */
	async call(client: Client, name: string, isDeep = false): Promise<boolean> {
		this.#count += 1;
		const text = isDeep ? `deep ${this.#count}` : `${this.#count}`;
		const wasAway = this.#watch();
		try {
			const result = await client.callTool({ name, arguments: { text } }, { timeout: CALL_TIMEOUT });
			return this.#answered(text, result as CallToolResult, isDeep);
		} catch (error) {
			const { message } = error as Error;
			if (/timed out/i.test(message)) {
				this.unanswered.push(`${name}: ${message}`);
			} else if (wasAway()) {
				this.cutOff += 1;
				this.#because(message);
			} else {
				this.wrong.push(`${name} ${text}: ${message}`);
			}
			return false;
		}
	}

	get doubled(): string[] {
		return [...this.#carriedOut].filter(([, count]) => count > 1).map(([text]) => text);
	}

	get untrue(): string[] {
		return this.#notSent.filter((text) => this.#carriedOut.has(text));
	}

	toString(): string {
		const { answered, failed, refused, cutOff, wrong, doubled, untrue, unanswered } = this;
		const faults = Object.entries({ wrong, doubled, untrue, unanswered }).map(
			([name, { length }]) => `${length} ${name}`,
		);
		const deep = refused === 0 ? "" : `${refused} refused as too deep, `;
		return `${answered} answered, ${deep}${failed} failed, ${cutOff} cut off; ${faults.join(", ")}`;
	}

	#answered(text: string, { content, isError }: CallToolResult, isDeep: boolean): boolean {
		const said = content.map((each) => (each.type === "text" ? each.text : each.type)).join(" ");
		const isOnce = this.#carriedOut.get(text) === 1;
		if (isError === true && isDeep && isOnce && /nest/.test(said)) {
			this.refused += 1;
			return true;
		}
		if (isError === true) {
			this.failed += 1;
			this.#because(said);
			if (/[Nn]othing was sent/.test(said)) {
				this.#notSent.push(text);
			}
		} else if (!isDeep && said === text && isOnce) {
			this.answered += 1;
			return true;
		} else {
			this.wrong.push(`${text}: ${said.slice(0, 1_000)}`);
		}
		return false;
	}

	#because(message: string): void {
		const reason = message.replace(/[0-9a-f]*\d[0-9a-f]*/g, "#").slice(0, 200);
		this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
	}
}
