package rabbit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/uid"
)

const contentJSON = "application/json"

// Message headers. The reference documents specify aggregate_id and event_type (inventory-tcc.md, event publisher).
const (
	headerType        = "event_type"
	headerAggregate   = "aggregate"
	headerAggregateID = "aggregate_id"
	headerSeq         = "aggregate_seq"
	headerBranch      = "branch_id"
	headerAt          = "occurred_at" // AMQP timestamps have a resolution of seconds
)

// encode returns the message of an event. The body is the payload alone, as consumers by the reference documents expect.
// Persistent messages and durable queues survive a restart of the broker.
func encode(e event.Event) amqp.Publishing {
	return amqp.Publishing{
		MessageId:    e.ID,
		Type:         e.Type,
		ContentType:  contentJSON,
		DeliveryMode: amqp.Persistent,
		Timestamp:    e.At,
		AppId:        "comanda",
		Headers: amqp.Table{
			headerType:        e.Type,
			headerAggregate:   e.Aggregate,
			headerAggregateID: e.AggregateID,
			headerSeq:         e.Seq,
			headerBranch:      e.BranchID,
			headerAt:          e.At.UnixMilli(),
		},
		Body: e.Payload,
	}
}

// timer returns the message that is dead-lettered as order.expired. Its body is the order id, as in qr-ordering.md. It
// relies on the queue's TTL: RabbitMQ checks a per-message TTL only at the head of the queue.
func timer(e event.Event) amqp.Publishing {
	return amqp.Publishing{
		MessageId:    e.ID,
		Type:         keyAwait,
		ContentType:  "text/plain",
		DeliveryMode: amqp.Persistent,
		Timestamp:    e.At,
		AppId:        "comanda",
		Body:         []byte(e.AggregateID),
	}
}

// errMalformed marks a message that no retry can make valid; it becomes a dead letter at once.
var errMalformed = errors.New("rabbit: the message is not an event")

// decode returns the event of a message. It accepts only what encode can produce, so that every decoded event can be
// stored.
func decode(d amqp.Delivery) (event.Event, error) {
	e := event.Event{ID: d.MessageId, Payload: d.Body}
	var at int64
	ok := uid.Valid(e.ID) && text(d, headerType, &e.Type) && text(d, headerAggregate, &e.Aggregate) &&
		text(d, headerAggregateID, &e.AggregateID) && integer(d, headerSeq, &e.Seq) &&
		integer(d, headerBranch, &e.BranchID) && integer(d, headerAt, &at)
	if !ok {
		return e, fmt.Errorf("%w: message_id %q, headers %v", errMalformed, d.MessageId, d.Headers)
	}
	if typ, known := event.Lookup(e.Type); !known || typ.Aggregate != e.Aggregate {
		return e, fmt.Errorf("%w: type %q of aggregate %q is not registered", errMalformed, e.Type, e.Aggregate)
	}
	if !json.Valid(d.Body) || !utf8.Valid(d.Body) {
		return e, fmt.Errorf("%w: the body is not JSON", errMalformed)
	}
	e.At = time.UnixMilli(at).UTC()
	return e, nil
}

// text reads a header that must be a string.
func text(d amqp.Delivery, name string, to *string) (ok bool) {
	*to, ok = d.Headers[name].(string)
	return ok && utf8.ValidString(*to) && !strings.Contains(*to, "\x00") // PostgreSQL refuses anything else in text
}

// maxMalformed is the number of bytes that are stored of a message that is not an event. Any program may send such a
// message, so its size must not decide how much SQL stores.
const maxMalformed = 16 << 10

// plain returns at most maxMalformed bytes of body as valid text.
func plain(body []byte) []byte {
	body = body[:min(len(body), maxMalformed)]
	return bytes.ReplaceAll(bytes.ToValidUTF8(body, []byte("?")), []byte{0}, []byte("?"))
}

// integer reads a header of any integer width, because other clients and shovels may encode a number in fewer bytes.
func integer(d amqp.Delivery, name string, to *int64) bool {
	switch v := d.Headers[name].(type) {
	case int64:
		*to = v
	case int32:
		*to = int64(v)
	case int16:
		*to = int64(v)
	case int8:
		*to = int64(v)
	default:
		return false
	}
	return true
}

// Limits for messages of other systems.
const (
	maxExternalID   = 64      // characters, the width of consumer_dedupe in the reference documents
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
