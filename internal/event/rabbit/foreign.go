package rabbit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
)

// Limits of messages of other systems.
const (
	maxForeignID   = 64      // characters, as in the reference's consumer_dedupe
	maxForeignBody = 1 << 20 // bytes; what it demands fits into a hundredth of that
)

// decodeForeign reads a message of another system. Of what encode writes it needs the body alone: its type is the routing
// key, or the header event_type where the message took another way, and a message without an id that can be stored gets
// one by which its repetition is recognised. Whether the body says anything is for the consumer to judge.
func decodeForeign(to inbox.Consumer, d amqp.Delivery, now time.Time) (event.Event, error) {
	e := event.Event{Type: d.RoutingKey, At: now.UTC().Truncate(time.Millisecond), Payload: d.Body}
	if !to.Wants(e) {
		e.Type, _ = d.Headers[headerType].(string)
	}
	typ, _ := event.Lookup(e.Type)
	switch {
	case !to.Wants(e):
		return e, fmt.Errorf("%w: neither the routing key %q nor the header %s is one of %v", errMalformed, d.RoutingKey,
			headerType, to.Types)
	case len(d.Body) > maxForeignBody:
		return e, fmt.Errorf("%w: the body has %d bytes", errMalformed, len(d.Body))
	}
	if !utf8.Valid(d.Body) || bytes.IndexByte(d.Body, 0) >= 0 {
		e.Payload = plain(d.Body)
	}
	e.ID, e.Aggregate = foreignID(e.Type, d), typ.Aggregate
	return e, nil
}

// foreignID is the message's own id, or else one that is made of all that a redelivery has in common with it.
func foreignID(typ string, d amqp.Delivery) string {
	id := d.MessageId
	if id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxForeignID && !strings.Contains(id, "\x00") {
		return id
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(typ), []byte(id), d.Body} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
