export type { Access } from "./clients/access.js";
export type { Catalog, CatalogChange, FoundTool } from "./clients/catalog.js";
export { HttpEndpoint, type HttpEndpointOptions } from "./clients/http-endpoint.js";
export { type StdioClient, serveOverStdio } from "./clients/stdio.js";
export type { ToolView } from "./clients/tool-view.js";
export { ConfigurationError, type ConfigurationSources, readConfiguration } from "./config/configuration.js";
export type { Configuration } from "./config/settings.js";
export { TokenError, type TokenKind, type TokenRecord, TokenStore } from "./config/token-store.js";
export type { Admission, AuthenticateDevice, DeviceCredentials } from "./devices/admission.js";
export type { EmbeddedBrokerOptions } from "./devices/embedded-broker.js";
export type { ExternalBrokerOptions } from "./devices/external-broker.js";
export { MqttDevices } from "./devices/mqtt.js";
export { WebSocketDevices, type WebSocketDevicesOptions } from "./devices/websocket.js";
export { Gateway, type GatewayOptions } from "./gateway.js";
export { makeLog } from "./log.js";
export { GatewayProgram } from "./program.js";
export type { Offers, ServerPrompt, ServerResource, ServerTemplate, ServerTool } from "./servers/offers.js";
export { ServerRegistry, type ServerRegistryOptions } from "./servers/registry.js";
export type { CallRecord, Server, ServerRecord } from "./servers/server.js";
export { ServerError, type ServerErrorCode } from "./servers/server-error.js";
export type {
	CallOptions,
	ServerIdentity,
	ServerInfo,
	ServerTransport,
	Session,
} from "./servers/session.js";
