import type { Tool } from "@modelcontextprotocol/client";
import type { FirmwareOffer } from "../../../src/devices/firmware/firmware-offers.js";
import { ask } from "./api.js";

/** The tool by which a device installs firmware, by its plain name. */
export const UPGRADE_TOOL = "self_upgrade_firmware";

/**
 * The arguments with which a device's tool installs the newest firmware that the gateway has for it; undefined if it has
 * nothing newer. Rejects with ApiError.
 *
 * @param name the device's alias or id
 */
export async function offerFor(name: string, tool: Tool): Promise<Record<string, unknown> | undefined> {
	const path = `devices/${encodeURIComponent(name)}/firmware`;
	const offer = await ask<Partial<FirmwareOffer>>(path, { method: "POST", json: {} });
	if (offer.version === undefined) {
		return undefined;
	}
	const known = Object.entries(offer).filter(([key]) => key in (tool.inputSchema.properties ?? {}));
	return Object.fromEntries(known);
}
