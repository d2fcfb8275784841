import { type Command, Option } from "commander";
import { CATALOG_MODES } from "../plugin.js";
import { DEFAULT_URL } from "./gateway-client.js";

/** Collects the values of a repeated flag. */
export function collect(text: string, before: readonly string[] = []): string[] {
	return [...before, text];
}

/** Adds the options that say where the gateway runs. */
export function withAddress(command: Command): Command {
	return command
		.addOption(new Option("--url <url>", "URL of the gateway").env("XS_MCP_GATEWAY_URL").default(DEFAULT_URL))
		.addOption(new Option("--token <token>", "Token of a client; the variable is safer").env("XS_MCP_GATEWAY_TOKEN"));
}

/** Adds the options that say which tools the gateway lists. */
export function withCatalog(command: Command): Command {
	return command
		.addOption(
			new Option("--catalog <mode>", "Which tools are listed; default: the gateway's setting").choices(CATALOG_MODES),
		)
		.option("--catalog-limit <tools>", "Most tools in a full list, if --catalog is auto")
		.option(
			"--pinned-tools <tool>",
			"Tools that are always listed; a trailing * matches any ending (repeatable)",
			collect,
		);
}
