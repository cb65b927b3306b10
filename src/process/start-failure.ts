import { ConfigError } from "../config/config.ts";
import { TradewireError } from "../errors/tradewire-error.ts";

/** Why the service could not start, in words for the operator. Only a bug comes with its stack. */
export function describeStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isAboutListening(error)) return describeListening(error);
  // The runtime throws TypeError and the like; deliberate messages are plain errors or this project's own.
  const isSaid = error.constructor === Error || error instanceof ConfigError || error instanceof TradewireError;
  if (!isSaid) return error.stack ?? error.message;
  const news = causesOf(error).filter((cause) => !error.message.includes(cause));
  return [error.message, ...news].join("\n  because: ");
}

interface ListeningError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

function isAboutListening(error: Error): error is ListeningError {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === "listen" || syscall === "bind" || syscall === "getaddrinfo";
}

function describeListening({ code, address, hostname, port }: ListeningError): string {
  const place = port === undefined ? (hostname ?? address) : `${address}:${port}`;
  if (code === "EADDRINUSE") {
    return `Something already listens at ${place}. Stop it, or set PORT, ADMIN_PORT and SANDBOX_PORT to other ports; 0 picks free ones.`;
  }
  if (code === "EACCES") return `This user may not listen at ${place}. Set PORT to 1024 or more.`;
  return `This machine cannot listen at ${place} (${code}). Set HOST, ADMIN_HOST and SANDBOX_HOST to addresses it has.`;
}

/** The chain of causes, outermost first. If several addresses were tried, the first of them. */
function causesOf(error: Error): readonly string[] {
  const { cause } = error;
  if (!(cause instanceof Error)) return [];
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const { message, code } = first as NodeJS.ErrnoException;
  return [message === "" ? `${code}` : message, ...causesOf(cause)];
}
