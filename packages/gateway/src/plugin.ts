import type { Settings } from "./config/setting-kinds.js";
import type { Configuration } from "./config/settings.js";
import type { RunningGateway } from "./gateway.js";

/** A feature of the gateway: one that it comes with, or an operator's own. */
export interface Plugin<Value = unknown> {
	/** Unique among the plugins of a gateway. */
	readonly name: string;
	/** Their names are unique among all settings. */
	readonly settings?: Settings;
	/** Returns the problems of its settings, one line each, or throws ConfigurationError. Called before anything starts. */
	readonly check?: (settings: Configuration) => readonly string[];
	/** Adds the feature. Returns the value that other plugins get from {@link RunningGateway.use}. */
	readonly setup: (gateway: RunningGateway) => Promise<Value> | Value;
}

/**
 * Declares a plugin. Every command reads the settings, so a plugin's module loads heavy modules in `setup` only. `setup` and `check` need
 * the types of their results: the type of all settings is derived from the plugins.
 */
export function definePlugin<const P extends Plugin>(plugin: P): P {
	return plugin;
}
