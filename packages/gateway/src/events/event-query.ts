import type { ServerRegistry } from "xs-mcp-manager/core";
import * as z from "zod";
import { type Access, hasUserTools, mayListen, reaches } from "../config/access.js";
import { readParams } from "../mcp/client-request.js";
import type { EventQuery } from "./event-feed.js";
import type { LoggedEvent } from "./event-log.js";
import { type CommonArguments, type EventType, hasMembers, LOST } from "./event-types.js";

/** The subscriber: its rights, and its path. */
export interface Viewer {
	readonly access: Access;
	/** Alias or id: only this server. Undefined: all servers. */
	readonly server: string | undefined;
}

/**
 * The events of a type that a subscription asks for, of those devices that the subscriber may reach.
 *
 * @param current returns undefined once the subscriber's token is not valid
 * @param server alias or id: only this server
 * @throws ProtocolError that names the argument that is wrong
 */
export function queryFor(
	type: EventType,
	args: Readonly<Record<string, unknown>>,
	servers: ServerRegistry,
	current: () => Access | undefined,
	server: string | undefined,
): EventQuery {
	const checked = readParams(z.object({ arguments: type.input }), { arguments: args }).arguments;
	const { device, tag, pause, ...others } = checked as CommonArguments & Record<string, unknown>;
	const isMeant = ({ name, device: id, data }: LoggedEvent): boolean =>
		(name === type.name || name === LOST) &&
		(device === undefined || device === id || servers.find(device)?.id === id) &&
		(tag === undefined || servers.find(id)?.tags.includes(tag) === true) &&
		(name === LOST || (type.matches?.(data, others) ?? hasMembers(data, others)));
	const maySee = (id: string): boolean => {
		const access = current();
		const isHere = server === undefined || servers.find(server)?.id === id;
		return access !== undefined && isHere && reaches(access, id) && isAllowed(type, access, id);
	};
	return { pause, matches: (event) => isMeant(event) && maySee(event.device) };
}

/** Whether a client has the permission that a type needs: at a device, or at any. */
export function isAllowed({ needs }: EventType, access: Access, device?: string): boolean {
	if (needs === "userTools") {
		return device === undefined ? access.userTools !== false : hasUserTools(access, device);
	}
	return needs === undefined || mayListen(access);
}
