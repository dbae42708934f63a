package orderinghttp

import (
	"time"

	"comanda/internal/ordering"
	"comanda/internal/text"
)

// board is the response of the board's routes.
type board struct {
	ID         string      `json:"id" doc:"Of what the board says: another board has another."`
	BranchID   string      `json:"branchId"`
	BizDate    string      `json:"bizDate"`
	Now        time.Time   `json:"now" doc:"The server's time of this look, to count ages from."`
	Tickets    []Ticket    `json:"tickets" doc:"To be done, by when they were paid; a voided one stays until it is cleared. At most 300."`
	Served     []Ticket    `json:"served" doc:"Served or cleared within the last 30 minutes, the last one first: they can be recalled. At most 300."`
	Awaiting   []awaiting  `json:"awaiting" doc:"To be paid at the counter, the first one first. The kitchen does not cook them yet. At most 300."`
	More       bool        `json:"more" doc:"One of the lists is cut off."`
	AllDay     []dishCount `json:"allDay" doc:"What is still to be cooked, by dish."`
	Stations   []station   `json:"stations" doc:"The categories of the branch's menus, in their order."`
	Thresholds thresholds  `json:"thresholds"`
}

// Ticket is an order as the kitchen's screens and printers show it.
type Ticket struct {
	Progress
	Kind            string       `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableLabel      string       `json:"tableLabel" doc:"Empty unless DINE_IN."`
	ReceiverName    string       `json:"receiverName" doc:"Empty with DINE_IN, and without the permission to see receivers."`
	ReceiverPhone   string       `json:"receiverPhone" doc:"Likewise."`
	ReceiverAddress string       `json:"receiverAddress" doc:"Likewise; empty with PICKUP, too."`
	ReceiverNote    string       `json:"receiverNote" doc:"For the courier; empty without one, and without the permission to see receivers."`
	Method          string       `json:"method" doc:"How it was paid, or is to be."`
	PlacedAt        time.Time    `json:"placedAt"`
	PaidAt          *time.Time   `json:"paidAt" doc:"From when its age counts."`
	Items           []ticketItem `json:"items"`
}

type ticketItem struct {
	Index      int    `json:"index" doc:"Its place among the order's items, also where a station shows only some."`
	ItemID     string `json:"itemId"`
	DishID     string `json:"dishId"`
	CategoryID string `json:"categoryId"`
	Name       string `json:"name" doc:"In the kitchen's language."`
	Qty        int64  `json:"qty"`
	Notes      string `json:"notes"`
	Done       bool   `json:"done"`
	Voided     bool   `json:"voided"`
}

type awaiting struct {
	Ticket
	TotalPrice int64     `json:"totalPrice" doc:"Minor units of the currency."`
	Currency   string    `json:"currency"`
	PayBy      time.Time `json:"payBy"`
}

type dishCount struct {
	DishID     string `json:"dishId"`
	CategoryID string `json:"categoryId"`
	Name       string `json:"name"`
	Qty        int64  `json:"qty"`
}

type station struct {
	ID   string `json:"id" doc:"A category."`
	Name string `json:"name" doc:"In the kitchen's language."`
}

type thresholds struct {
	WarnSeconds int64 `json:"warnSeconds" doc:"The age of a ticket from which it is old."`
	LateSeconds int64 `json:"lateSeconds" doc:"And from which it is too old."`
}

// look selects which parts of a board one screen receives.
type look struct {
	only      int64 // category id of a station; 0 selects the items of all stations
	receivers bool  // include the receivers' personal data
}

// boardOf returns the part of a board that l selects.
func (r wallRoutes) boardOf(b *ordering.Board, l look) board {
	out := board{
		ID: b.ID, BranchID: decimal(b.Branch), BizDate: b.Date, Now: b.At, More: b.More,
		Tickets: ticketsOf(b, b.Tickets, l), Served: ticketsOf(b, b.Served, l), Awaiting: []awaiting{},
		AllDay: []dishCount{}, Stations: make([]station, len(b.Stations)),
		Thresholds: thresholds{int64(r.boards.Warn / time.Second), int64(r.boards.Late / time.Second)},
	}
	for i := range b.Awaiting {
		o := &b.Awaiting[i]
		if t := ticketOf(b, o, l); len(t.Items) > 0 {
			out.Awaiting = append(out.Awaiting, awaiting{t, o.Total, string(o.Currency), o.PayBy})
		}
	}
	for _, d := range b.AllDay(l.only) {
		out.AllDay = append(out.AllDay, dishCount{decimal(d.DishID), decimal(d.Category), d.Name, d.Qty})
	}
	for i, s := range b.Stations {
		out.Stations[i] = station{decimal(s.Category), s.Names.In(b.Locales...)}
	}
	return out
}

func ticketsOf(b *ordering.Board, list []ordering.Ticket, l look) []Ticket {
	out := []Ticket{}
	for i := range list {
		if t := ticketOf(b, &list[i], l); len(t.Items) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// ticketOf returns an order as a ticket, with the items of one station or of all. It passes every text through
// text.Printable because tickets are printed: texts stored before the API rejected control characters could contain
// printer commands.
func ticketOf(b *ordering.Board, o *ordering.Ticket, l look) Ticket {
	t := Ticket{
		Progress: progressOf(&o.Order), Kind: string(o.Kind), TableLabel: text.Printable(o.Table), Method: string(o.Method),
		PlacedAt: o.CreatedAt, Items: []ticketItem{},
	}
	if l.receivers {
		t.ReceiverName, t.ReceiverPhone = text.Printable(o.Receiver.Name), text.Printable(o.Receiver.Phone)
		t.ReceiverAddress, t.ReceiverNote = text.Printable(o.Receiver.Address), text.Printable(o.Receiver.Note)
	}
	if !o.PaidAt.IsZero() {
		t.PaidAt = &o.PaidAt
	}
	for i, it := range o.Items {
		category := b.CategoryOf(it.DishID)
		if l.only != 0 && category != l.only {
			continue
		}
		t.Items = append(t.Items, ticketItem{
			Index: i, ItemID: decimal(it.ItemID), DishID: decimal(it.DishID), CategoryID: decimal(category),
			Name: text.Printable(it.Name), Qty: it.Qty, Notes: text.Printable(it.Notes), Done: !it.DoneAt.IsZero(),
			Voided: o.Voided(),
		})
	}
	return t
}
