package ordering

import (
	"context"
	"unicode/utf8"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/text"
)

// Carts returns members' carts priced by the current menu; cart.Service implements it.
type Carts interface {
	// Get reads the stored cart. Branch 0 means the cart's branch or, if it has none, the first branch.
	Get(ctx context.Context, actor authz.Actor, branch int64) (cart.View, error)
	// GetCached is Get with a cached cart, which may be outdated; false if there is none.
	GetCached(ctx context.Context, actor authz.Actor, branch int64) (cart.View, bool)
	// Evict drops the cached cart after the order has emptied the stored one.
	Evict(actor authz.Actor)
}

// Checkout is a member's request to turn the cart into an order. The JSON form is the input of its digest.
type Checkout struct {
	UserID        int64          `json:"u"`
	Kind          Kind           `json:"k"` // DELIVERY or PICKUP
	Branch        int64          `json:"b"` // 0: the cart's, or else the first open one
	Receiver      Receiver       `json:"r"`
	Method        payment.Method `json:"m"`
	ClientTxnID   string         `json:"-"`
	ExpectedTotal *int64         `json:"t"`           // total that the member saw; nil: not checked
	Voucher       string         `json:"c,omitempty"` // code of a voucher; empty for none
}

// Limits of a receiver's fields, in characters.
const (
	MaxReceiverName = 120
	MinAddress      = 5
	MaxAddress      = 300
	MaxReceiverNote = 200
)

// ErrUnavailable reports that dishes of the cart are no longer on the menu. The error names their cart lines.
var ErrUnavailable = fault.New(fault.Conflict, "dish_unavailable", "Some dishes in the cart are no longer on the menu.")

// normalized returns the checkout with its receiver normalized, or an error about the first invalid field. The digest
// is computed from the normalized checkout, because a repetition may write the phone number in another way.
func (c Checkout) normalized() (Checkout, error) {
	if c.Kind != Delivery && c.Kind != PickUp {
		return c, invalidField("kind", "An order is for delivery or pick-up.")
	}
	var err error
	if c.Receiver, err = c.Receiver.normalized(c.Kind); err != nil {
		return c, err
	}
	return c, checkClientTxnID(c.ClientTxnID)
}

// normalized returns the receiver with texts, phone number and e-mail address normalized. The error names the field, so
// that the app can mark it.
func (r Receiver) normalized(k Kind) (Receiver, error) {
	least := 0
	if k == Delivery {
		least = MinAddress
	}
	var phoneOK, emailOK bool
	name, nameErr := text.Line.Clean(r.Name)
	address, addressErr := text.Line.Clean(r.Address)
	note, noteErr := text.Lines.Clean(r.Note)
	r.Name, r.Address, r.Note = name, address, note
	r.Phone, phoneOK = account.NormalizePhone(r.Phone)
	r.Email, emailOK = account.NormalizeEmail(r.Email)
	switch {
	case nameErr != nil || !lengthWithin(r.Name, 1, MaxReceiverName):
		return r, invalidField("receiverName", "The receiver's name has 1 to 120 characters on one line.")
	case !phoneOK:
		return r, invalidField("receiverPhone",
			"The telephone number is + and 7 to 15 digits, or the 6 to 15 digits of a national one.")
	case addressErr != nil || !lengthWithin(r.Address, least, MaxAddress):
		return r, invalidField("receiverAddress",
			"The address has 5 to 300 characters on one line; to fetch an order needs none.")
	case r.Email != "" && !emailOK:
		return r, invalidField("receiverEmail", "This is not a valid e-mail address.")
	case noteErr != nil || !lengthWithin(r.Note, 0, MaxReceiverNote):
		return r, invalidField("receiverNote", "The note for the courier is plain text of at most 200 characters.")
	}
	return r, nil
}

// invalidField returns a refusal that names the JSON property of the field.
func invalidField(field, detail string) error {
	return fault.New(fault.Invalid, "invalid", detail).With("field", field)
}

// lengthWithin reports whether s has least to most characters.
func lengthWithin(s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	return n >= least && n <= most
}

// CheckOut turns a member's cart into an order and empties the cart in the same transaction. It is idempotent: the
// same clientTxnId with the same content returns the same order (I11). After an error of kind Unavailable the outcome
// is unknown; a retry with the same clientTxnId returns it (I5).
func (s *Service) CheckOut(ctx context.Context, actor authz.Actor, c Checkout) (Receipt, error) {
	// The session decides who orders, never the request.
	c.UserID = actor.UserID
	c, err := s.normalize(c)
	if err != nil {
		return Receipt{}, err
	}
	asked := contentOf(c)
	receipt, err := s.placeIdempotent(ctx, c.key(), asked, func(ctx context.Context) (Receipt, error) {
		return s.checkOut(ctx, actor, c, asked)
	})
	if err == nil {
		// The order has emptied the stored cart, but the cached copy still contains the dishes.
		s.Carts.Evict(actor)
	}
	return receipt, err
}

// CheckForm validates a checkout without looking at the cart. It does no I/O. The transport calls it before it counts
// the request against rate limits.
func (s *Service) CheckForm(c Checkout) error {
	_, err := s.normalize(c)
	return err
}

func (s *Service) normalize(c Checkout) (Checkout, error) {
	c, err := c.normalized()
	if err == nil {
		err = s.Settings().Methods.Check(c.Method)
	}
	return c, err
}

// checkOut tries the cached cart first, which saves a query. A success is safe because the ledger compares the cart
// under its locks. A refusal may be due to an outdated cache, so it is returned only if the stored cart is equal;
// otherwise the stored cart is tried.
func (s *Service) checkOut(ctx context.Context, actor authz.Actor, c Checkout, asked *content) (Receipt, error) {
	seen, remembered := s.Carts.GetCached(ctx, actor, c.Branch)
	var receipt Receipt
	var refusal error
	if remembered {
		receipt, refusal = s.placeCart(ctx, seen, c, asked)
		// After an unknown outcome the order may exist, so a second attempt must not follow here.
		if refusal == nil || fault.KindOf(refusal) == fault.Unavailable {
			return receipt, refusal
		}
	}
	v, err := s.Carts.Get(ctx, actor, c.Branch)
	switch {
	case err != nil:
		return s.priorOr(ctx, c.key(), asked, err)
	// The cached cart was current, so its refusal holds.
	case remembered && v.Equal(seen.Cart):
		return receipt, refusal
	}
	return s.placeCart(ctx, v, c, asked)
}

// placeCart prices a cart and places the order.
func (s *Service) placeCart(ctx context.Context, v cart.View, c Checkout, asked *content) (Receipt, error) {
	return withCurrentRates(func() (Receipt, error) {
		o, err := s.priceCart(ctx, v, c)
		if err != nil {
			// The order of an earlier attempt has emptied the cart, so a repetition comes here with cart.ErrEmpty.
			return s.priorOr(ctx, c.key(), asked, err)
		}
		return s.reserveAndPlace(ctx, o, source{cart: &v.Cart}, asked)
	})
}

// priceCart returns the cart as a priced order. Its branch is the view's branch, because the request may not name one.
func (s *Service) priceCart(ctx context.Context, v cart.View, c Checkout) (pricedOrder, error) {
	items, err := cartLines(v.For(c.Kind))
	if err == nil {
		err = checkItems(items)
	}
	if err != nil {
		return pricedOrder{}, err
	}
	o, err := s.price(ctx, Guest{Branch: v.Branch.ID}, c.Kind, c.UserID, Request{
		Items: items, Method: c.Method, ClientTxnID: c.key().ClientTxnID, MenuVersionID: v.MenuVersionID,
		ExpectedTotal: c.ExpectedTotal, Voucher: c.Voucher,
	})
	o.UserID, o.Receiver = c.UserID, c.Receiver
	return o, err
}

// cartLines returns the order lines of a cart, or ErrUnavailable if some dishes are not on the menu.
func cartLines(v cart.View) ([]RequestItem, error) {
	if len(v.Items) == 0 {
		return nil, cart.ErrEmpty
	}
	items := make([]RequestItem, len(v.Items))
	var missing []string
	for i, it := range v.Items {
		// Carts have no notes.
		items[i] = RequestItem{ItemID: it.ItemID, Qty: it.Quantity, Options: catalog.DecodeOptions(it.Options)}
		if !it.Available {
			missing = append(missing, formatID(it.ID))
		}
	}
	if missing != nil {
		return nil, ErrUnavailable.With("cartDetailIds", missing)
	}
	return items, nil
}
