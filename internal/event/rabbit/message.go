package rabbit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"

	"comanda/internal/event"
	"comanda/internal/uid"
)

const contentJSON = "application/json"

// Headers of a message. aggregate_id and event_type are the reference's (inventory-tcc.md, event publisher).
const (
	headerType        = "event_type"
	headerAggregate   = "aggregate"
	headerAggregateID = "aggregate_id"
	headerSeq         = "aggregate_seq"
	headerBranch      = "branch_id"
	headerAt          = "occurred_at" // the protocol's own timestamp has only seconds
)

// encode writes an event as a message. The body is the payload alone, as the reference's consumers expect it.
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

// timer is the message that comes back as order.expired: the order's id, as in the reference, and no expiration of its
// own, because the queue's applies (one per message would only be looked at when the message is first in line).
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

var errMalformed = errors.New("rabbit: the message is not an event")

// decode reads a message. It accepts only what encode may have written, so that whatever it lets through can be stored;
// a message of another origin is malformed.
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

// text reads a header that must be text.
func text(d amqp.Delivery, name string, to *string) (ok bool) {
	*to, ok = d.Headers[name].(string)
	return ok && utf8.ValidString(*to) && !strings.Contains(*to, "\x00") // PostgreSQL stores nothing else as text
}

// maxMalformed bounds what is kept of a message that is no event.
const maxMalformed = 16 << 10

// plain makes text of any bytes.
func plain(body []byte) []byte {
	body = body[:min(len(body), maxMalformed)]
	return bytes.ReplaceAll(bytes.ToValidUTF8(body, []byte("?")), []byte{0}, []byte("?"))
}

// integer accepts every width, because other clients and shovels may write a number narrower than it was.
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
