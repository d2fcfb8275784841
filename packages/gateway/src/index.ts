export {
	type CallRecord,
	type Connection,
	type Offers,
	type RequestContext,
	type Server,
	ServerError,
	type ServerErrorCode,
	type ServerIdentity,
	type ServerInfo,
	type ServerRecord,
	ServerRegistry,
	type ServerRegistryOptions,
	type ServerTool,
} from "xs-mcp-manager/core";
export type { Catalog, CatalogChange, FoundTool } from "./catalog/catalog.js";
export type { ToolView } from "./catalog/tool-view.js";
export type { Access, TokenKind, TokenRecord } from "./config/access.js";
export { type ConfigurationSources, loadPlugins, readConfiguration } from "./config/configuration.js";
export type { Configuration } from "./config/settings.js";
export { TokenStore } from "./config/token-store.js";
export type {
	Admission,
	AuthenticateDevice,
	DeviceCredentials,
	DeviceListenerOptions,
} from "./devices/admission.js";
export { connectToMqtt, listenForMqtt } from "./devices/mqtt.js";
export { openUdpChannels, type UdpChannels } from "./devices/udp-channels.js";
export { listenForWebSocket } from "./devices/websocket.js";
export { type CreateGatewayOptions, createGateway, type RunningGateway } from "./gateway.js";
export { GatewayError, type GatewayErrorCode } from "./gateway-error.js";
export { makeLog } from "./log.js";
export { Gateway, type GatewayOptions } from "./mcp/gateway.js";
export { ConfigurationError, definePlugin, type Plugin } from "./plugin.js";
export { HttpEndpoint } from "./transports/http-endpoint.js";
export { type StdioClient, serveOverStdio } from "./transports/stdio.js";
