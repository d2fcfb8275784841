import type { Command } from "commander";
import type { DeviceSummary } from "../operator/operator-routes.js";
import { type ClientOptions, clientFor } from "./gateway-client.js";
import { print } from "./output.js";

/** Adds the commands that tag devices: `devices tag DEVICE TAG...`, `devices untag DEVICE TAG...`. */
export function addTagCommands(devices: Command): void {
	devices
		.command("tag")
		.description("Add tags to a device: with catalog=groups, one call reaches all devices with a tag")
		.argument("<device>", "Alias or id")
		.argument("<tags...>", "In the form of an alias")
		.action((device: string, tags: string[], _options, command: Command) =>
			changeTags(device, command.optsWithGlobals(), (before) => [...before, ...tags]),
		);
	devices
		.command("untag")
		.description("Remove tags from a device")
		.argument("<device>", "Alias or id")
		.argument("<tags...>")
		.action((device: string, tags: string[], _options, command: Command) =>
			changeTags(device, command.optsWithGlobals(), (before) => before.filter((tag) => !tags.includes(tag))),
		);
}

async function changeTags(
	device: string,
	options: ClientOptions,
	change: (before: readonly string[]) => readonly string[],
): Promise<void> {
	const gateway = clientFor(options);
	const { alias, tags: before } = await gateway.device(device);
	const json = { tags: change(before) };
	const path = `/devices/${encodeURIComponent(alias)}`;
	const { tags } = await gateway.ask<DeviceSummary>(path, { method: "PATCH", json });
	print(tags.length === 0 ? `${alias} has no tags.` : `${alias} is tagged ${tags.join(", ")}.`);
}
