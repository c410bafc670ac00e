"""Execution traces in MLCommons' Chakra format (github.com/mlcommons/chakra, schema/protobuf/et_def.proto), which simulators of clusters take: a predicted step, a file a rank.

A file is a message of metadata and then a message for each node, each behind its length as a varint. Nodes name those that they wait for.
"""
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
COLLECTIVES = {"all_reduce": 0, "all_gather": 2, "reduce_scatter": 7}


# ---- protocol buffers --------------------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(int(value))


def text(field, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    kinds = {bool: 27, int: 9, str: 29}  # of AttributeProto: bool_val, int64_val, string_val
    field = kinds[type(value)]
    return text(10, text(1, name) + (text(field, value) if isinstance(value, str) else number(field, value)))


def read_varint(data, at):
    """The value, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(field, value) of a message, as they come: numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
            yield key >> 3, value
        elif key & 7 == 2:
            length, at = read_varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")


def messages(data):
    at = 0
    while at < len(data):
        length, at = read_varint(data, at)
        yield data[at : at + length]
        at += length


# ---- a rank's step -----------------------------------------------------------------------------------------------------


class Trace:
    """One node behind the other, as a rank's stream runs them."""

    def __init__(self):
        self.data = bytearray()
        self.count = 0
        self.message(text(1, "0.0.4"))

    def message(self, data):
        self.data += varint(len(data)) + data

    def node(self, name, kind, microseconds, attributes):
        own = self.count
        self.count += 1
        data = number(1, own) + text(2, name) + number(3, kind)
        if own:
            data += text(5, varint(own - 1))  # data_deps, packed
        data += number(7, round(microseconds))
        for attribute_name, value in {"is_cpu_op": False, **attributes}.items():
            data += attribute(attribute_name, value)
        self.message(data)

    def compute(self, name, seconds, flops, size):
        self.node(name, COMPUTE, seconds * 1e6, {"num_ops": int(flops), "tensor_size": int(size)})

    def collective(self, name, which, size, group):
        self.node(name, COLLECTIVE, 0, {"comm_type": COLLECTIVES[which], "comm_size": int(size), "pg_name": group})

    def between(self, name, kind, size, other, tag):
        own = {SEND: "comm_dst", RECEIVE: "comm_src"}[kind]
        self.node(name, kind, 0, {"comm_size": int(size), own: other, "comm_tag": tag})


def one_forward_one_backward(stage, stages, micro_batches):
    """(forward?, micro-batch) in the order in which a stage computes them (Narayanan et al., arXiv 2104.04473, section 2.2)."""
    first = min(stages - stage - 1, micro_batches)
    for k in range(first):
        yield True, k
    for k in range(micro_batches - first):
        yield True, first + k
        yield False, k
    for k in range(micro_batches - first, micro_batches):
        yield False, k


def of_rank(m, d, s, rank):
    """The step of rank `rank`, numbered tensor first, then data, then pipeline."""
    tensor, data, stage = rank % s.tensor, rank // s.tensor % s.data, rank // (s.tensor * s.data)
    micro_batches = m.texts // (s.data * s.texts)
    layers = m.layers // s.pipeline
    flops = m.flops(1) / (s.data * s.tensor * s.pipeline) / micro_batches / layers  # of a layer, forward
    own = m.parameters / (s.tensor * s.pipeline)
    values = 2 * s.texts * m.tokens * m.hidden
    apart = s.tensor * s.data
    of_tensor, of_data = f"tensor {rank // s.tensor}", f"data {stage * s.tensor + tensor}"
    t = Trace()

    def layer(name, passes, ways):
        t.compute(name, passes * flops / (d.flops * d.reached), passes * flops, 2 * own / layers)
        for _ in range(2 * ways if s.tensor > 1 else 0):  # behind attention and behind the second product, each way
            t.collective(f"sum over {name}", "all_reduce", values, of_tensor)

    for forward, k in one_forward_one_backward(stage, s.pipeline, micro_batches):
        to, source = (stage + 1, stage - 1) if forward else (stage - 1, stage + 1)
        way = "values" if forward else "gradients"
        if 0 <= source < s.pipeline:
            t.between(f"{way} of {k} from stage {source}", RECEIVE, values / s.tensor, rank + (source - stage) * apart, 2 * k + (not forward))
        for l in range(layers):
            if s.stage == 3:
                t.collective(f"parameters of layer {l}", "all_gather", 4 * own / layers, of_data)
            # Backward: two products for each of the forward pass, and that again where values are computed again.
            layer(f"layer {l}, {'forward' if forward else 'backward'} of {k}", 1 if forward else 3 if s.again else 2, 2 if s.again and not forward else 1)
            if s.stage == 3 and not forward:
                t.collective(f"gradients of layer {l}", "reduce_scatter", 4 * own / layers, of_data)
        if 0 <= to < s.pipeline:
            t.between(f"{way} of {k} to stage {to}", SEND, values / s.tensor, rank + (to - stage) * apart, 2 * k + (not forward))
    if s.data > 1 and s.stage < 3:
        if s.stage == 0:
            t.collective("gradients", "all_reduce", 4 * own, of_data)
        else:
            t.collective("gradients", "reduce_scatter", 4 * own, of_data)
            t.collective("parameters", "all_gather", 4 * own, of_data)
    return bytes(t.data)


def ranks_of(s):
    return s.data * s.tensor * s.pipeline


def check(m, d, s, predicted_kernels):
    """A trace read back: it has the kernels' time, every node waits for one before it, and what one rank sends another takes."""
    sent, taken = {}, {}
    for rank in range(ranks_of(s)):
        parts = list(messages(of_rank(m, d, s, rank)))
        assert dict(fields(parts[0]))[1] == b"0.0.4"
        seconds = 0
        for expected, data in enumerate(parts[1:]):
            node = {}
            about = {}
            for field, value in fields(data):
                if field == 10:
                    (_, name), (_, about_it) = fields(value)
                    about[name.decode()] = about_it
                else:
                    node[field] = value
            assert node[1] == expected and (expected == 0 or node[5] == varint(expected - 1))
            seconds += node[7] / 1e6
            if node[3] == SEND:
                sent[rank, about["comm_dst"], about["comm_tag"]] = about["comm_size"]
            if node[3] == RECEIVE:
                taken[about["comm_src"], rank, about["comm_tag"]] = about["comm_size"]
        assert abs(seconds / predicted_kernels - 1) < 0.01, (rank, seconds, predicted_kernels)
    assert sent == taken and bool(sent) == (s.pipeline > 1)
    return len(sent)
