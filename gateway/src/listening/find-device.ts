import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import { type Access, reaches } from "../config/access.js";

/** Names in an error. */
const MAX_NAMES = 20;

/** The argument that names a device. */
export const DEVICE = z.string().min(1).max(256).describe("Alias or id of the device");

/**
 * The device that an argument names.
 *
 * @throws RangeError that lists the valid ones
 */
export function findDevice(servers: ServerRegistry, access: Access, name: string): Server {
	const isReached = (server: Server): boolean => !server.configured && reaches(access, server.id);
	const device = servers.find(name);
	if (device === undefined || !isReached(device)) {
		const names = servers.all.filter(isReached).map(({ alias }) => alias);
		throw new RangeError(
			`device: no device ${JSON.stringify(name)}; expected ${names.slice(0, MAX_NAMES).join(", ") || "one that has connected"}`,
		);
	}
	return device;
}
