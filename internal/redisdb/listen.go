package redisdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// ErrChannel says that a channel was not declared.
var ErrChannel = errors.New("redisdb: a channel was not declared")

// Publish sends a message to whoever listens at this moment, in any process. That nobody does is no error. The store
// inside a process has nobody else to tell: there nothing is published, and Listen waits and never begins.
func (db *DB) Publish(ctx context.Context, channel keyspace.Channel, message string) error {
	if !channel.Valid() {
		return fmt.Errorf("redisdb: PUBLISH: %w", ErrChannel)
	}
	if db.bare { // it could not: a connection of its that listens takes no other command
		return nil
	}
	return db.send(ctx, "PUBLISH", func(ctx context.Context, c rueidis.Client) error {
		return c.Do(ctx, c.B().Publish().Channel(db.cfg.Namespace.Channel(channel)).Message(message).Build()).Error()
	})
}

// Listen hands over what is published from now on, until ctx ends, which is no error, or until the connection is lost. begun
// is called when the server has confirmed that it listens; what was published before is never heard. Both functions are
// called by the goroutine that reads the connection: they must not block and must not call Redis.
//
// It is the one call that waits for longer than Config.Timeout, and says nothing about the server's health: a connection
// that ends may have been ended for listening too slowly. Whoever listens begins again, after a while.
func (db *DB) Listen(ctx context.Context, channel keyspace.Channel, begun func(), heard func(message string)) error {
	if !channel.Valid() {
		return fmt.Errorf("redisdb: SUBSCRIBE: %w", ErrChannel)
	}
	if db.bare {
		<-ctx.Done()
		return nil
	}
	c := db.client.Load()
	if c == nil || !db.Up() {
		return fmt.Errorf("redisdb: SUBSCRIBE: %w", ErrDown)
	}
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" {
			begun()
		}
	})
	name := db.cfg.Namespace.Channel(channel)
	err := (*c).Receive(hooked, (*c).B().Subscribe().Channel(name).Build(), func(m rueidis.PubSubMessage) {
		heard(m.Message)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	if err == nil {
		err = errors.New("the subscription was ended")
	}
	return translate("SUBSCRIBE", classify(err), err)
}
