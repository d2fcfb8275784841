/**
 * The device's own name in networks: `xs-mcp-` and the end of its MAC address.
 *
 * @param macAddress lower case, with colons
 */
export const hostnameOf = (macAddress: string): string => `xs-mcp-${macAddress.replaceAll(":", "").slice(-6)}`;
