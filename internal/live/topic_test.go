package live_test

import (
	"slices"
	"sync"
	"testing"

	"comanda/internal/live"
)

func notified(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestTopic(t *testing.T) {
	var topic live.Topic[string]
	topic.Notify("a") // without a subscriber
	first, endFirst := topic.Subscribe("a")
	second, endSecond := topic.Subscribe("a")
	other, endOther := topic.Subscribe("b")
	for range 3 { // changes in quick succession share a value, and none blocks
		topic.Notify("x", "a")
	}
	if !notified(first) || !notified(second) || notified(first) || notified(other) {
		t.Error("each subscriber of the key, and no other, is notified once")
	}
	if keys := topic.Keys(); !slices.Contains(keys, "a") || !slices.Contains(keys, "b") || len(keys) != 2 {
		t.Errorf("keys %v", keys)
	}
	endFirst()
	topic.Notify("a", "b")
	if notified(first) || !notified(second) || !notified(other) {
		t.Error("an ended subscription is notified, or has ended others")
	}
	endSecond()
	endSecond()
	endOther()
	if len(topic.Keys()) != 0 || topic.Subscribed("a") {
		t.Errorf("keys without subscribers are kept: %v", topic.Keys())
	}
}

func TestTopic_concurrently(*testing.T) {
	var topic live.Topic[int]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				changed, end := topic.Subscribe(1)
				topic.Notify(topic.Keys()...)
				<-changed // at the latest by our own notification
				end()
			}
		})
	}
	all.Wait()
}
