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

// Limits for messages of other systems.
const (
	maxExternalID   = 64      // characters, the width of consumer_dedupe in the reference
	maxExternalBody = 1 << 20 // bytes; the largest valid command needs a hundredth of it
)

// decodeExternal decodes a message of another system. Its type is the routing key, or else the header event_type. A
// message without a usable id gets one that its redeliveries share. The consumer validates the body.
func decodeExternal(to inbox.Consumer, d amqp.Delivery, now time.Time) (event.Event, error) {
	e := event.Event{Type: d.RoutingKey, At: now.UTC().Truncate(time.Millisecond), Payload: d.Body}
	if !to.Wants(e) {
		e.Type, _ = d.Headers[headerType].(string)
	}
	typ, _ := event.Lookup(e.Type)
	switch {
	case !to.Wants(e):
		return e, fmt.Errorf("%w: neither the routing key %q nor the header %s is one of %v", errMalformed, d.RoutingKey,
			headerType, to.Types)
	case len(d.Body) > maxExternalBody:
		return e, fmt.Errorf("%w: the body has %d bytes", errMalformed, len(d.Body))
	}
	if !utf8.Valid(d.Body) || bytes.IndexByte(d.Body, 0) >= 0 {
		e.Payload = plain(d.Body)
	}
	e.ID, e.Aggregate = externalID(e.Type, d), typ.Aggregate
	return e, nil
}

// externalID returns the message's own id, or a hash of everything that its redeliveries have in common.
func externalID(typ string, d amqp.Delivery) string {
	id := d.MessageId
	if id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxExternalID && !strings.Contains(id, "\x00") {
		return id
	}
	// The lengths separate the parts: without them two different messages could have one text.
	h := sha256.New()
	for _, part := range [][]byte{[]byte(typ), []byte(id), d.Body} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
