module tradewire.example/trade

go 1.21
