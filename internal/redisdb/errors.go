package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/redis/rueidis"

	"comanda/internal/fault"
)

// What a call can fail with.
var (
	// ErrDown says that no answer came: the server is out of reach, too slow, or was found so a moment ago. What a write
	// has done is unknown.
	ErrDown = fault.New(fault.Unavailable, "redis_down", "A fast store is out of reach. Nothing was lost; ask again.")

	ErrReply      = errors.New("redisdb: the server refused the command")
	ErrNoWrites   = errors.New("redisdb: the server takes no writes, or not from us")
	ErrKey        = errors.New("redisdb: a key was not built by its declaration")
	ErrSlots      = errors.New("redisdb: the keys of one script lie in different slots")
	ErrVersion    = errors.New("redisdb: Redis 7 or newer is needed")
	ErrRunning    = errors.New("redisdb: another server runs with this data directory")
	ErrNotRunning = errors.New("redisdb: no server runs with this data directory")
)

// kind groups failures for the metric and for the breaker.
type kind string

const (
	fine     kind = ""
	canceled kind = "canceled" // the caller went away; says nothing about the server
	timeout  kind = "timeout"
	network  kind = "network"
	refusing kind = "refusing" // the server is there but serves nobody: loading, failing over
	reply    kind = "reply"    // the server refused this command
	down     kind = "down"     // not sent
)

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

func classifyReply(text string) kind {
	for _, prefix := range []string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "READONLY", "TRYAGAIN", "NOREPLICAS"} {
		if strings.HasPrefix(text, prefix) {
			return refusing
		}
	}
	return reply
}

// takesNoWrites tells a server that is full, cannot save, is busy with a script or has other rights for us from one that
// refuses this command.
func takesNoWrites(err error) bool {
	var answer *rueidis.RedisError
	if !errors.As(err, &answer) {
		return false
	}
	for _, prefix := range []string{"OOM", "MISCONF", "BUSY", "NOAUTH", "NOPERM", "WRONGPASS"} {
		if strings.HasPrefix(answer.Error(), prefix) {
			return true
		}
	}
	return false
}

// translate is the one place where an error of the client becomes one of ours.
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
