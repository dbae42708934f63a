package ordering

import "testing"

func awake(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestWatches(t *testing.T) {
	var w Watches
	w.Changed([]Result{{Order: Order{ID: "a"}}}) // nobody looks on
	first, endFirst := w.Watch("a")
	second, endSecond := w.Watch("a")
	other, endOther := w.Watch("b")
	for range 3 { // quick changes share a wake-up, and none blocks
		w.Changed([]Result{{Order: Order{ID: "x"}}, {Order: Order{ID: "a"}}})
	}
	if !awake(first) || !awake(second) || awake(first) || awake(other) {
		t.Error("each watcher of the order, and nobody else, is woken once")
	}
	endFirst()
	w.Changed([]Result{{Order: Order{ID: "a"}}, {Order: Order{ID: "b"}}})
	if awake(first) || !awake(second) || !awake(other) {
		t.Error("a watch that has ended still wakes, or has ended others")
	}
	endSecond()
	endOther()
	if len(w.of) != 0 {
		t.Errorf("%d orders are remembered that nobody watches", len(w.of))
	}
}
