import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ServerRegistry } from "xs-mcp-manager/core";
import type { OwnTool } from "../catalog/own-tools.js";
import { type Access, mayListen } from "../config/access.js";
import type { Configuration } from "../config/settings.js";
import type { EventLog } from "../events/event-log.js";
import type { EventService } from "../events/event-service.js";
import type { AuditLog } from "../history/audit-log.js";
import { askTool } from "../listening/ask-tool.js";
import { listenTool } from "../listening/listen-tool.js";
import { Microphones } from "../listening/microphones.js";
import { limited, programRecognizer, type Recognize, serviceRecognizer } from "../listening/recognizer.js";
import { recordHeard } from "../listening/record-heard.js";
import type { Announcements } from "../speech/announcements.js";
import type { DeviceTurns } from "../speech/device-turns.js";
import type { ProgramContext } from "./context.js";
import { readProvider } from "./open-speech.js";

interface ListeningOptions {
	readonly context: ProgramContext;
	readonly servers: ServerRegistry;
	readonly turns: DeviceTurns;
	readonly announcements: Announcements | undefined;
	readonly audit: AuditLog | undefined;
	readonly events: { readonly events: EventService; readonly log: EventLog };
}

/**
 * Opens the microphones, if the settings allow that; undefined if they do not.
 *
 * @returns a function that makes the tools of a client
 * @throws ConfigurationError if the settings are not complete
 */
export async function openListening(
	options: ListeningOptions,
): Promise<((access: Access) => readonly OwnTool[]) | undefined> {
	const { context, servers, turns, announcements, audit, events } = options;
	const { configuration, log, limitedLog } = context;
	const folder = join(configuration.stateFolder, "recordings");
	const recognize = recognizerOf(configuration, folder);
	if (!configuration.microphones) {
		return undefined;
	}
	// A process that was killed has not deleted its own.
	const removeRecordings = (): Promise<void> => rm(folder, { recursive: true, force: true });
	await removeRecordings();
	context.onClose(removeRecordings);
	const microphones = new Microphones({
		turns,
		recognize: recognize && limited(recognize),
		onBegin: ({ id }, principal) => log.info({ device: id, principal }, "listening"),
		onEnd: ({ device: { id, alias }, seconds, ...record }) =>
			audit?.called({ ...record, device: id, alias, tool: "listen", args: JSON.stringify({ seconds }) }),
	});
	if (recognize !== undefined) {
		recordHeard(servers, turns, microphones, events, (device, reason) =>
			limitedLog.warn("speech", { device }, `not heard: ${reason}`),
		);
	}
	return (access) =>
		mayListen(access)
			? [listenTool(access, microphones, servers), askTool(access, { microphones, announcements, turns, servers })]
			: [];
}

function recognizerOf(configuration: Configuration, folder: string): Recognize | undefined {
	const provider = readProvider(configuration, "transcription");
	const language = configuration.transcriptionLanguage;
	if (provider === undefined) {
		return undefined;
	}
	return "command" in provider
		? programRecognizer(provider.command, folder, language)
		: serviceRecognizer(provider, language);
}
