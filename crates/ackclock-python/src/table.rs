//! Samples as tables of Arrow, handed over without a copy through the Arrow PyCapsule interface.
//!
//! Reference: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use std::sync::Arc;

use ackclock::cc::Phase;
use ackclock::probe::{FlowSamples, LinkSamples, PacketEvent, PacketTrace};
use ackclock::transport::Timer;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, PrimitiveArray, RecordBatch, RecordBatchIterator,
    StringArray, UInt32Array, UInt64Array,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table that any library of Arrow can read: `polars.DataFrame(table)`.
#[pyclass(frozen, module = "ackclock._core")]
#[derive(Clone)]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The Arrow C stream of the table.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the wish for another schema.
        drop(requested_schema);
        let schema = self.batch.schema();
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows of {})", self.batch.num_rows(), self.columns().join(", "))
    }
}

/// The samples of flows, with the names of flows and phases as text.
pub fn flow_table(samples: FlowSamples, names: &[String]) -> Table {
    let FlowSamples {
        time_ns,
        flow,
        cwnd_segments,
        ssthresh_segments,
        in_flight_segments,
        srtt_ns,
        phase,
        sent_bytes,
        delivered_bytes,
        retransmits,
        reported,
    } = samples;
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("time_ns", Arc::new(UInt64Array::from(time_ns))),
        ("flow", text::<UInt32Type>(flow, names)),
        ("cwnd_segments", Arc::new(Float64Array::from(cwnd_segments))),
        ("ssthresh_segments", Arc::new(Float64Array::from(ssthresh_segments))),
        ("in_flight_segments", Arc::new(UInt32Array::from(in_flight_segments))),
        ("srtt_ns", Arc::new(UInt64Array::from(srtt_ns))),
        ("phase", text::<UInt8Type>(phase, &Phase::NAMES)),
        ("sent_bytes", Arc::new(UInt64Array::from(sent_bytes))),
        ("delivered_bytes", Arc::new(UInt64Array::from(delivered_bytes))),
        ("retransmits", Arc::new(UInt64Array::from(retransmits))),
    ];
    let (names, reported): (Vec<String>, Vec<_>) = reported.into_iter().unzip();
    columns.extend(names.iter().map(String::as_str).zip(reported.into_iter().map(optional)));
    table(columns)
}

/// The samples of links, with their names as text.
pub fn link_table(samples: LinkSamples, names: &[String]) -> Table {
    let LinkSamples { time_ns, link, backlog_packets, backlog_bytes, forwarded_bytes, drops, capacity_bps } = samples;
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("time_ns", Arc::new(UInt64Array::from(time_ns))),
        ("link", text::<UInt32Type>(link, names)),
        ("backlog_packets", Arc::new(UInt32Array::from(backlog_packets))),
        ("backlog_bytes", Arc::new(UInt64Array::from(backlog_bytes))),
        ("forwarded_bytes", Arc::new(UInt64Array::from(forwarded_bytes))),
        ("drops", Arc::new(UInt64Array::from(drops))),
    ];
    if !capacity_bps.is_empty() {
        columns.push(("capacity_bps", optional(capacity_bps)));
    }
    table(columns)
}

/// The trace of every packet, with names, events and timers as text.
pub fn packet_table(trace: PacketTrace) -> Table {
    let PacketTrace {
        flow_names,
        link_names,
        time_ns,
        link,
        flow,
        event,
        seq,
        len,
        wire_bytes,
        retransmission,
        cwnd_segments,
        timer,
    } = trace;
    table(vec![
        ("time_ns", Arc::new(UInt64Array::from(time_ns))),
        ("link", text::<UInt32Type>(link, &link_names)),
        ("flow", text::<UInt32Type>(flow, &flow_names)),
        ("event", text::<UInt8Type>(event, &PacketEvent::NAMES)),
        ("seq", Arc::new(UInt64Array::from(seq))),
        ("len", Arc::new(UInt32Array::from(len))),
        ("wire_bytes", Arc::new(UInt32Array::from(wire_bytes))),
        ("retransmission", Arc::new(BooleanArray::from(retransmission))),
        ("cwnd_segments", Arc::new(Float64Array::from(cwnd_segments))),
        ("timer", text::<UInt8Type>(timer, &Timer::NAMES)),
    ])
}

fn table(columns: Vec<(&str, ArrayRef)>) -> Table {
    let batch = RecordBatch::try_from_iter(columns).expect("invariant: all columns of samples have one length");
    Table { batch }
}

/// A column of numbers, with nothing where there is none.
fn optional(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(values.into_iter().map(|value| (!value.is_nan()).then_some(value))))
}

/// A column of text: which of the names, or none of them, row by row.
fn text<K: ArrowDictionaryKeyType>(keys: impl Into<PrimitiveArray<K>>, names: &[impl AsRef<str>]) -> ArrayRef {
    let names = StringArray::from_iter_values(names);
    let column = DictionaryArray::<K>::try_new(keys.into(), Arc::new(names));
    Arc::new(column.expect("invariant: samples point at names that there are"))
}
