package rabbit

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/event/inbox"
	"comanda/internal/sqldb"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite docs/events.md")

// delivered returns a publishing as its consumer receives it.
func delivered(p amqp.Publishing) amqp.Delivery {
	return amqp.Delivery{MessageId: p.MessageId, Type: p.Type, Headers: p.Headers, Body: p.Body}
}

func TestDecode_reads_encoded_values(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := event.OrderPaid.New(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "at")),
			rapid.StringMatching(`[a-z0-9]{26}`).Draw(t, "order"), rapid.Int64().Draw(t, "seq"),
			rapid.Int64().Draw(t, "branch"), event.Paid{BizDate: "2026-02-26"})
		testenv.Equal(t, e, testenv.Must(decode(delivered(encode(e))))(t))
	})
}

func TestDecode_refuses_foreign_values(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*amqp.Delivery){
		"no id":            func(d *amqp.Delivery) { d.MessageId = "" },
		"strange id":       func(d *amqp.Delivery) { d.MessageId = "42" },
		"no headers":       func(d *amqp.Delivery) { d.Headers = nil },
		"unknown type":     func(d *amqp.Delivery) { d.Headers[headerType] = "order.eaten" },
		"other aggregate":  func(d *amqp.Delivery) { d.Headers[headerAggregate] = "visit" },
		"text for number":  func(d *amqp.Delivery) { d.Headers[headerSeq] = "2" },
		"number for text":  func(d *amqp.Delivery) { d.Headers[headerAggregateID] = int64(2) },
		"bytes for text":   func(d *amqp.Delivery) { d.Headers[headerAggregateID] = "\xff" },
		"body is no JSON":  func(d *amqp.Delivery) { d.Body = []byte("{") },
		"body is no UTF-8": func(d *amqp.Delivery) { d.Body = []byte("\"\xff\"") },
	} {
		d := delivered(encode(placed("order1")))
		change(&d)
		if e, err := decode(d); err == nil {
			t.Errorf("%s: decoded as %+v", name, e)
		}
	}
}

func TestDecode_takes_narrow_numbers(t *testing.T) {
	t.Parallel()
	for _, seq := range []any{int64(5), int32(5), int16(5), int8(5)} {
		d := delivered(encode(placed("order1")))
		d.Headers[headerSeq] = seq
		if e, err := decode(d); err != nil || e.Seq != 5 {
			t.Errorf("%T: seq %d, %v", seq, e.Seq, err)
		}
	}
}

// externalConsumer returns a consumer of other systems' messages.
func externalConsumer() inbox.Consumer {
	return inbox.Consumer{
		Name: "externalConsumer", Types: []string{"order.created"}, Queue: "inventory.order.created",
		Apply: func(context.Context, sqldb.Tx, []event.Event) error { return nil },
	}
}

// Only the routing key, the event type header, the message id and the body of other systems' messages are used.
func TestDecodeExternal(t *testing.T) {
	t.Parallel()
	good := amqp.Delivery{MessageId: "42", RoutingKey: "order.created", Body: []byte(`{"orderId":"o"}`)}
	want := event.Event{
		ID: "42", Type: "order.created", Aggregate: "reservation", At: noon, Payload: []byte(`{"orderId":"o"}`),
	}
	for name, change := range map[string]func(*amqp.Delivery, *event.Event){
		"as it is": func(*amqp.Delivery, *event.Event) {},
		"by its header": func(d *amqp.Delivery, _ *event.Event) {
			d.RoutingKey, d.Headers = "inventory.order.created", amqp.Table{"event_type": "order.created"}
		},
		"a header of another meaning": func(d *amqp.Delivery, _ *event.Event) {
			d.Headers = amqp.Table{"event_type": int32(7)}
		},
		"any id": func(d *amqp.Delivery, e *event.Event) {
			d.MessageId = strings.Repeat("ờ", maxExternalID)
			e.ID = d.MessageId
		},
		"bytes that no text has": func(d *amqp.Delivery, e *event.Event) {
			d.Body, e.Payload = []byte("\xff\x00{"), []byte("??{")
		},
	} {
		d, e := good, want
		change(&d, &e)
		got, err := decodeExternal(externalConsumer(), d, noon)
		if diff := cmp.Diff(e, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, diff)
		}
	}
	for name, change := range map[string]func(*amqp.Delivery){
		"another type": func(d *amqp.Delivery) { d.RoutingKey = "order.confirmed" },
		"no type": func(d *amqp.Delivery) {
			d.RoutingKey, d.Headers = "x", amqp.Table{"event_type": []byte("order.created")}
		},
		"a long body": func(d *amqp.Delivery) { d.Body = make([]byte, maxExternalBody+1) },
	} {
		d := good
		change(&d)
		if e, err := decodeExternal(externalConsumer(), d, noon); !errors.Is(err, errMalformed) {
			t.Errorf("%s: decoded as %+v, %v", name, e, err)
		}
	}
}

// A message without a usable id gets one that it shares with its redeliveries only.
func TestExternalID(t *testing.T) {
	t.Parallel()
	d := amqp.Delivery{Body: []byte("body")}
	seen := map[string]string{}
	for name, id := range map[string]string{
		"without":       externalID("order.created", d),
		"another type":  externalID("order.confirmed", d),
		"another body":  externalID("order.created", amqp.Delivery{Body: []byte("bodx")}),
		"too long":      externalID("order.created", amqp.Delivery{MessageId: strings.Repeat("x", 65), Body: d.Body}),
		"longer":        externalID("order.created", amqp.Delivery{MessageId: strings.Repeat("x", 66), Body: d.Body}),
		"no text":       externalID("order.created", amqp.Delivery{MessageId: "\xff", Body: d.Body}),
		"with a zero":   externalID("order.created", amqp.Delivery{MessageId: "a\x00", Body: d.Body}),
		"moved borders": externalID("order.create", amqp.Delivery{Body: []byte("dbody")}),
	} {
		if len(id) != maxExternalID {
			t.Errorf("externalID(%s) = %q, want %d characters", name, id, maxExternalID)
		}
		if other, taken := seen[id]; taken {
			t.Errorf("%s and %s have one id", name, other)
		}
		seen[id] = name
	}
	d.Redelivered, d.DeliveryTag = true, 7
	if seen[externalID("order.created", d)] != "without" {
		t.Error("the redelivery has another id")
	}
}

func TestPlain_is_text_of_a_bounded_length(t *testing.T) {
	t.Parallel()
	got := string(plain([]byte("a\x00\xffb" + strings.Repeat("x", 2*maxMalformed))))
	if !strings.HasPrefix(got, "a??b") || len(got) > maxMalformed {
		t.Errorf("%d bytes beginning with %q", len(got), got[:8])
	}
}

func TestConfig_refuses(t *testing.T) {
	t.Parallel()
	good := Config{URL: "amqp://guest:guest@localhost/", PaymentWindow: time.Minute}
	paidOnly := daybook(nil)
	paidOnly.Name, paidOnly.Types = "books", []string{"order.paid"}
	atReference := paidOnly
	atReference.Queue = queuePaid
	wrongQueue := daybook(nil)
	wrongQueue.Queue = queuePaid
	sameQueue := paidOnly
	sameQueue.Queue = "comanda.daybook"
	atTimer := paidOnly
	atTimer.Queue = queueAwait
	both := func(c inbox.Consumer) []inbox.Consumer { return []inbox.Consumer{daybook(nil), c} }
	for name, c := range map[string]struct {
		change func(*Config)
		ok     bool
	}{
		"nothing":                           {func(*Config) {}, true},
		"a consumer of a reference's queue": {func(c *Config) { c.Consumers = both(atReference) }, true},
		"no broker":                         {func(c *Config) { c.URL = "http://user:secret@host" }, false},
		"no window":                         {func(c *Config) { c.PaymentWindow = 0 }, false},
		"incomplete consumer":               {func(c *Config) { c.Consumers = []inbox.Consumer{{}} }, false},
		"type that never comes":             {func(c *Config) { c.Consumers = []inbox.Consumer{wrongQueue} }, false},
		"shared queue":                      {func(c *Config) { c.Consumers = both(sameQueue) }, false},
		"another exchange of the stock":     {func(c *Config) { c.StockExchange = "goods" }, true},
		"ours and theirs":                   {func(c *Config) { c.Consumers[0].Types = append(c.Consumers[0].Types, "order.created") }, false},
		"the timers' queue":                 {func(c *Config) { c.Consumers = []inbox.Consumer{atTimer} }, false},
	} {
		config := good
		config.Consumers = []inbox.Consumer{daybook(nil)}
		c.change(&config)
		_, err := NewPublisher(config)
		if (err == nil) != c.ok {
			t.Errorf("NewPublisher with %s = %v, want valid %t", name, err, c.ok)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error contains the password: %v", name, err)
		}
		if _, err := NewConsumers(config, nil, nil); (err == nil) != c.ok {
			t.Errorf("%s: consumers: %v", name, err)
		}
	}
}

// docs/events.md matches the registry and the topology.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	var reservations *stocksql.Reservations // only the names of its consumers are used
	want := event.Markdown() + "\n" + Markdown(15*time.Minute, reservations.Consumers())
	const path = "../../../docs/events.md"
	if *update {
		testenv.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("docs/events.md is out of date (%v): run go test ./internal/event/rabbit -run Documentation -update", err)
	}
}
