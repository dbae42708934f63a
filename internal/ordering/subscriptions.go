package ordering

import "comanda/internal/live"

// Subscriptions notifies subscribers of changed orders. It receives the changes of this process, and those of other
// processes through Notify; notifications between processes may be lost, so subscribers must also poll. The zero value
// is ready to use. It is safe for concurrent use.
type Subscriptions struct {
	// OnChange is called after the commit with the orders of a branch that this process has changed, to notify other
	// processes. It must not block. Set it before the first change; it may be nil.
	OnChange func(branch int64, orders []string)

	orders   live.Topic[string]
	branches live.Topic[int64]
}

// Subscribe returns a channel that receives a value after each change of an order, and a function that ends the
// subscription. Changes in quick succession may share one value. Subscribe before the first read of the order, or a
// change in between stays unseen until the next poll. end must be called.
func (s *Subscriptions) Subscribe(order string) (changed <-chan struct{}, end func()) {
	return s.orders.Subscribe(order)
}

// SubscribeBranch is Subscribe for a branch: any of its orders, its visits and its calls for service.
func (s *Subscriptions) SubscribeBranch(branch int64) (changed <-chan struct{}, end func()) {
	return s.branches.Subscribe(branch)
}

// Changed notifies the subscribers of orders that this process has changed, and of their branches, and calls OnChange. It
// never blocks on subscribers. The ledger calls it after every commit. Results that changed nothing are included; they
// only cost a poll.
func (s *Subscriptions) Changed(results []Result) {
	byBranch := map[int64][]string{}
	for i := range results {
		if o := &results[i].Order; o.ID != "" { // a refused command may have no order
			byBranch[o.Scope.Branch] = append(byBranch[o.Scope.Branch], o.ID)
		}
	}
	for branch, orders := range byBranch {
		s.Notify(branch, orders...)
		if s.OnChange != nil {
			s.OnChange(branch, orders)
		}
	}
}

// Notify notifies the subscribers of orders that another process has changed, and of their branch. It does not call
// OnChange, or processes would notify each other forever. Without orders it notifies only the branch's subscribers.
func (s *Subscriptions) Notify(branch int64, orders ...string) {
	s.orders.Notify(orders...)
	s.branches.Notify(branch)
}

// NotifyAll notifies all subscribers, for when notifications from other processes may have been lost. All streams poll
// at once then, which is cheap: they share statements.
func (s *Subscriptions) NotifyAll() {
	s.orders.Notify(s.orders.Keys()...)
	s.branches.Notify(s.branches.Keys()...)
}
