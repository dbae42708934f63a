package redisdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// ErrChannel reports that a channel was not declared.
var ErrChannel = errors.New("redisdb: a channel was not declared")

// Publish sends a message to the current subscribers in all processes; having none is not an error. An embedded store
// has no other processes to notify, so Publish does nothing there, and Subscribe waits without ever subscribing.
func (db *DB) Publish(ctx context.Context, channel keyspace.Channel, message string) error {
	if !channel.Valid() || channel.IsPattern() {
		return fmt.Errorf("redisdb: PUBLISH: %w", ErrChannel)
	}
	if db.embedded { // miniredis accepts no other command on a subscribed connection
		return nil
	}
	return db.send(ctx, "PUBLISH", func(ctx context.Context, c rueidis.Client) error {
		return c.Do(ctx, c.B().Publish().Channel(db.cfg.Namespace.Channel(channel)).Message(message).Build()).Error()
	})
}

// Subscribe passes messages of a channel, or of all channels of a pattern, to received until ctx ends, which is not an
// error, or until the connection is lost. It calls subscribed when the server has confirmed the subscription; earlier
// messages are not received. Both functions run in the goroutine that reads the connection: they must not block and
// must not call Redis.
//
// It is the only call without Config.Timeout, and its failure does not affect the breaker: the server may have closed
// the connection because messages were read too slowly. The caller subscribes again after a pause.
func (db *DB) Subscribe(
	ctx context.Context, channel keyspace.Channel, subscribed func(), received func(message string),
) error {
	if !channel.Valid() {
		return fmt.Errorf("redisdb: SUBSCRIBE: %w", ErrChannel)
	}
	if db.embedded {
		<-ctx.Done()
		return nil
	}
	c := db.client.Load()
	if c == nil || !db.Up() {
		return fmt.Errorf("redisdb: SUBSCRIBE: %w", ErrDown)
	}
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" || s.Kind == "psubscribe" {
			subscribed()
		}
	})
	name := db.cfg.Namespace.Channel(channel)
	command := (*c).B().Subscribe().Channel(name).Build()
	if channel.IsPattern() {
		command = (*c).B().Psubscribe().Pattern(name).Build()
	}
	err := (*c).Receive(hooked, command, func(m rueidis.PubSubMessage) { received(m.Message) })
	if ctx.Err() != nil {
		return nil //nolint:nilerr // ending with ctx is not an error
	}
	if err == nil {
		err = errors.New("the subscription was ended")
	}
	return translate("SUBSCRIBE", classify(err), err)
}
