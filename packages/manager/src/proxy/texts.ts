// Texts of the proxy for the host's model, in Japanese and English.

/** The host's instructions: all that a model knows about a locked proxy. */
export function gateInstructions(skill: string): string {
	return `Before you use these tools, load the skill ${skill} and call the tool activate.`;
}

export function locked(skill: string): string {
	return `スキル ${skill} が未ロードです。ロードしてから activate を呼んでください (Load the skill ${skill}, then call activate.)`;
}

export function disconnected(reason: string): string {
	return (
		"上流MCP切断。activate を再度呼んでください " +
		`(The upstream MCP server is disconnected: ${reason}. Call activate again.)`
	);
}

export function notReconnected(reason: string): string {
	return (
		"自動再接続失敗。上流サービスの状態を確認してください " +
		`(Automatic reconnection failed: ${reason}. Check the upstream service.)`
	);
}

export function notConnected(reason: string): string {
	return `接続失敗。上流サービスの状態を確認してください (Connection failed: ${reason}. Check the upstream service.)`;
}

/** Appended for a call that was in progress when the connection ended. */
export const PERHAPS_CARRIED_OUT = "The call may have been carried out.";

export const RECONNECTED = "The upstream MCP server was disconnected during the call. The proxy has connected again.";
