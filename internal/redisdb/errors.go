package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"comanda/internal/fault"
)

// Errors of calls.
var (
	// ErrDown reports that no reply arrived: the server is unreachable, too slow, or counts as down. The effect of a
	// write is unknown.
	ErrDown = fault.New(fault.Unavailable, "redis_down", "Temporary storage problem. Nothing was lost; please try again.")

	ErrReply      = errors.New("redisdb: the server refused the command")
	ErrNoWrites   = errors.New("redisdb: the server does not accept writes, or not from this user")
	ErrKey        = errors.New("redisdb: a key was not built by its declaration")
	ErrSlots      = errors.New("redisdb: the keys of one script are in different slots")
	ErrVersion    = errors.New("redisdb: Redis 7 or newer is required")
	ErrRunning    = errors.New("redisdb: another server uses this data directory")
	ErrNotRunning = errors.New("redisdb: no server uses this data directory")
)

// kind classifies failures for metrics and for the breaker.
type kind string

const (
	fine     kind = ""
	canceled kind = "canceled" // the caller cancelled; no information about the server
	timeout  kind = "timeout"
	network  kind = "network"
	refusing kind = "refusing" // the server responds but serves no calls: loading, failing over
	reply    kind = "reply"    // the server refused this command
	down     kind = "down"     // not sent
)

// classify returns the kind of an error of the client library. Replies of the server are checked first: an error reply
// proves that the connection works.
func classify(err error) kind {
	var timed net.Error
	var answer *rueidis.RedisError
	switch {
	case err == nil, rueidis.IsRedisNil(err):
		return fine
	case errors.As(err, &answer):
		return classifyReply(answer.Error())
	case errors.Is(err, context.Canceled):
		return canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return timeout
	case errors.As(err, &timed) && timed.Timeout():
		return timeout
	}
	return network
}

// classifyReply returns the kind of an error reply. Errors with these prefixes concern every call and count as an
// outage. All others concern one command and do not affect the breaker.
func classifyReply(text string) kind {
	if beginsWith(text, "LOADING", "MASTERDOWN", "CLUSTERDOWN", "READONLY", "TRYAGAIN", "NOREPLICAS") {
		return refusing
	}
	return reply
}

func beginsWith(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// takesNoWrites reports whether the server refuses all writes: it is full, cannot save, is busy with a script, or
// denies this user access.
func takesNoWrites(err error) bool {
	answer, ok := errors.AsType[*rueidis.RedisError](err)
	return ok && beginsWith(answer.Error(), "OOM", "MISCONF", "BUSY", "NOAUTH", "NOPERM", "WRONGPASS")
}

// translate converts an error of the client library to an error of this package. All calls use it. It returns ErrDown
// for temporary failures, and ErrReply for errors that a repetition would not change.
func translate(name string, k kind, err error) error {
	switch k {
	case fine:
		return nil
	case canceled:
		return fmt.Errorf("redisdb: %s: %w", name, err)
	case reply:
		if takesNoWrites(err) {
			err = fmt.Errorf("%w: %w", ErrNoWrites, err)
		}
		return fmt.Errorf("redisdb: %s: %w: %w", name, ErrReply, err)
	}
	return fmt.Errorf("redisdb: %s: %w", name, ErrDown.Because(err))
}
